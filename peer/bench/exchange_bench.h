#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace gv {

/// One round of D-PSGD's exchange and average on a ring of n processes over loopback, without a
/// gradient, beside bare TCP streams between as many processes: those whose socket buffers did
/// best.
struct ExchangeRow {
  std::uint32_t peers = 0;
  std::size_t dimension = 0;
  double round_seconds = 0;  ///< median over repetitions of the slowest process
  double plain_seconds = 0;  ///< the same of the fastest plain streams
  int plain_buffer = 0;      ///< and the socket buffers that they asked for; 0: the system's
  /// Out of each peer.
  double bytes_per_second() const;
  double plain_bytes_per_second() const;
  /// Plain over ours: 1 is the speed of bare streams that check and average nothing.
  double ratio() const { return plain_seconds / round_seconds; }
};

struct ExchangeOptions {
  std::vector<std::uint32_t> peers{4, 8};
  std::vector<std::size_t> dimensions{1'000, 100'000, 1'000'000, 25'600'000};
  bool shared = true;  ///< memory, as a fleet of one machine has it; false: over TCP
  int repetitions = 5;  ///< ours and each of the plain ones in turn
  std::vector<int> plain_buffers{0, 256 << 10, 512 << 10, 1 << 20};  ///< bytes; see plain_streams
};

/// Calls `on_row` as each is measured. The caller must have no other thread.
std::vector<ExchangeRow> bench_exchange(const ExchangeOptions& options,
                                        const std::function<void(const ExchangeRow&)>& on_row);

}  // namespace gv
