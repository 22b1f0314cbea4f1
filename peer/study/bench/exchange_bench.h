#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "peer/wire/seal/cipher_speed.h"

namespace gv {

/// The cost of one round, median over repetitions.
struct RoundCost {
  double seconds = 0;      ///< of the slowest process
  double cpu_seconds = 0;  ///< of all processes together, kernel included
};

/// The averaging that a round does, without a gradient.
enum class Averaging : std::uint8_t {
  neighbors,   ///< D-PSGD's exchange and average on a ring
  all_reduce,  ///< the mean of all, by ring all-reduce
};

/// One round on a ring of n processes of one machine: with payloads in shared memory, with payloads
/// over TCP, plain and encrypted, and beside them bare TCP streams of as many bytes between as many
/// processes, that check and average nothing: those whose socket buffers did best.
struct ExchangeRow {
  std::uint32_t peers = 0;
  std::size_t dimension = 0;
  RoundCost shared, tcp, plain;
  int plain_buffer = 0;  ///< that the plain streams asked for; 0: the system's
  double bytes = 0;      ///< that each peer sends
  RoundCost tls;         ///< over TCP and encrypted, as between machines
  CipherSpeed aes;       ///< of AES-128-GCM, beside them
  double bytes_per_second(const RoundCost& cost) const { return bytes / cost.seconds; }
  /// Carried in a second of one core's time, sending and receiving together.
  double bytes_per_core_second(const RoundCost& cost) const {
    return peers * bytes / cost.cpu_seconds;
  }
  /// Returns the part that is carried of what the cipher allows a core to carry.
  double part_of_allowed() const {
    return bytes_per_core_second(tls) / aes.allows(bytes_per_core_second(tcp));
  }
};

struct ExchangeOptions {
  Averaging averaging = Averaging::neighbors;
  std::vector<std::uint32_t> peers{4, 8};
  std::vector<std::size_t> dimensions{1'000, 100'000, 1'000'000, 25'600'000};
  int repetitions = 5;                                               ///< all of them in turn
  std::vector<int> plain_buffers{0, 256 << 10, 512 << 10, 1 << 20};  ///< bytes; see plain_streams
};

/// One repetition of one way, before it begins: all of them take minutes.
struct ExchangeTurn {
  std::uint32_t peers = 0;
  std::size_t dimension = 0;
  const char* way = "";     ///< "shared memory", "TCP", ...
  int turn = 0, turns = 0;  ///< of this row, from 1
};

/// Calls `on_turn` before each turn, and `on_row` as each row is measured. The caller must have no
/// other thread.
std::vector<ExchangeRow> bench_exchange(const ExchangeOptions& options,
                                        const std::function<void(const ExchangeTurn&)>& on_turn,
                                        const std::function<void(const ExchangeRow&)>& on_row);

}  // namespace gv
