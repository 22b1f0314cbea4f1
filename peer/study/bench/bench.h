#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "optim/models/model.h"
#include "peer/fleet/model_profile.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

struct AgentBenchOptions {
  std::string environment = "cartpole";
  std::uint32_t memory = 1'000'000;  ///< capacity in transitions; the memory is full
  std::uint32_t batch = 64;
  double seconds = 4;  ///< measuring time
};

struct ActingRate {
  std::uint32_t environments = 1;  ///< number of environments in one batch
  double steps_per_second = 0;     ///< median, all environments together
};

struct AgentBenchReport {
  std::size_t parameters = 0;
  std::vector<ActingRate> acting{};
  double draw_seconds = 0;   ///< median time of drawing a prioritized minibatch
  double judge_seconds = 0;  ///< median time of drawing one and updating its priorities
};

/// Measures what an agent does besides its gradients, on one thread: steps of its environment with
/// an MLP of 128 and 128 units, and draws from a full memory with priorities.
AgentBenchReport bench_agent(const AgentBenchOptions& options);

/// Training on one device with one batch: gradient and optimizer step, nothing sent.
struct DeviceRow {
  Device device;
  int threads = 1;  ///< CPU threads
  std::uint32_t batch = 0;
  double samples_per_second = 0;  ///< median
  double gflops = 0;              ///< for the gradient alone, counted as in the simulator
  double speed = 0;               ///< samples per second relative to speed 1
};

/// Measures the fleet's model on the CPU, with each number of threads that its peers use, and on
/// every CUDA device, at each batch size for about `seconds`. Peers that share a machine share this
/// speed. Calls `on_row` after each measurement. `reference`: samples per second of speed 1,
/// measured on another machine; 0: those of the first device here, at the same batch size.
std::vector<DeviceRow> bench_devices(const Assembly& fleet,
                                     const std::vector<std::uint32_t>& batches,
                                     double seconds,
                                     double reference,
                                     const std::function<void(const DeviceRow&)>& on_row);

/// Bytes per second that one core encrypts and decrypts with AES-128-GCM, in records of 16 KiB,
/// like `openssl speed -evp aes-128-gcm -bytes 16384` (and `-decrypt`).
struct CipherSpeed {
  double encrypts = 0;
  double decrypts = 0;
  /// Returns the bytes per second that a core both encrypts and decrypts.
  double both() const { return 1 / (1 / encrypts + 1 / decrypts); }
  /// Returns the bytes per second of a core through TLS, sent and received, if the cipher were all
  /// that TLS adds to the work for `plain` bytes per second without it.
  double allows(double plain) const { return 1 / (1 / plain + 1 / both()); }
};

/// Measures the speed, in a fifth of a second of processor time for each direction.
CipherSpeed aes_gcm_speed();

/// The cost of one round, median over repetitions.
struct RoundCost {
  double seconds = 0;      ///< time of the slowest process
  double cpu_seconds = 0;  ///< sum over all processes, kernel time included
};

/// The averaging that a round does, without a gradient.
enum class Averaging : std::uint8_t {
  neighbors,   ///< D-PSGD's exchange and averaging on a ring
  all_reduce,  ///< mean over all peers, by ring all-reduce
};

/// One round on a ring of n processes of one machine: with payloads in shared memory, over TCP and
/// over encrypted TCP. For comparison, `plain` is bare TCP streams of as many bytes between as many
/// processes, without checks or averaging, with the fastest socket buffer size.
struct ExchangeRow {
  std::uint32_t peers = 0;
  std::size_t dimension = 0;
  RoundCost shared, tcp, plain;
  int plain_buffer = 0;  ///< buffer size of the plain streams, bytes; 0: the system's default
  double bytes = 0;      ///< bytes sent by each peer
  RoundCost tls;         ///< encrypted TCP, as between machines
  CipherSpeed aes;       ///< speed of AES-128-GCM in the same measurement
  double bytes_per_second(const RoundCost& cost) const { return bytes / cost.seconds; }
  /// Returns bytes carried per second of CPU time of one core, sending and receiving together.
  double bytes_per_core_second(const RoundCost& cost) const {
    return peers * bytes / cost.cpu_seconds;
  }
  /// Returns the achieved fraction of the rate that the cipher's speed allows a core.
  double part_of_allowed() const {
    return bytes_per_core_second(tls) / aes.allows(bytes_per_core_second(tcp));
  }
};

struct ExchangeOptions {
  Averaging averaging = Averaging::neighbors;
  std::vector<std::uint32_t> peers{4, 8};
  std::vector<std::size_t> dimensions{1'000, 100'000, 1'000'000, 25'600'000};
  int repetitions = 5;  ///< each repetition measures every way in turn
  std::vector<int> plain_buffers{0, 256 << 10, 512 << 10, 1 << 20};  ///< bytes; see plain_streams
};

/// Announces one repetition of one way before it begins, because the whole benchmark takes minutes.
struct ExchangeTurn {
  std::uint32_t peers = 0;
  std::size_t dimension = 0;
  const char* way = "";     ///< "shared memory", "TCP", ...
  int turn = 0, turns = 0;  ///< number within this row, from 1
};

/// Calls `on_turn` before each turn, and `on_row` as each row is measured. The caller must have no
/// other thread.
std::vector<ExchangeRow> bench_exchange(const ExchangeOptions& options,
                                        const std::function<void(const ExchangeTurn&)>& on_turn,
                                        const std::function<void(const ExchangeRow&)>& on_row);

struct ProfileOptions {
  std::vector<std::uint32_t> rows{1, 2, 4, 8, 16, 32};  ///< rows of a microbatch, ascending
  int threads = 1;
  double seconds = 1;  ///< measuring time per size
};

/// Measures how long each piece of the fleet's model takes on this machine's CPU. Each repetition
/// sends minibatches of all sizes forward and backward through all pieces, as in a chain on one
/// machine, and once through the whole model. The lower quartile of each counts, because other work
/// on the machine only makes a measurement slower. The pieces' times are then scaled so that they
/// add up to the whole model's. Calls `on_rows` for each number of rows, with the seconds of the
/// whole model. Throws std::invalid_argument for a model without layers.
ModelProfile profile_model(const Assembly& fleet,
                           const ProfileOptions& options,
                           const std::function<void(std::uint32_t rows, double seconds)>& on_rows);

struct StepOptions {
  ModelSpec model;
  std::uint32_t batch = 32;
  int threads = 1;
  double seconds = 4;  ///< measuring time
};

/// A report of training on generated data: images in the shape of the row's bench_image, or
/// 64-token texts over 65 characters.
struct StepReport {
  std::size_t parameters = 0;
  double flops = 0;        ///< per gradient
  double seconds = 0;      ///< median time of a step: minibatch, gradient, SGD update
  double cpu_seconds = 0;  ///< median CPU time of a step with one thread; else 0
  std::uint64_t steps = 0;
};

StepReport bench_step(const StepOptions& options);

}  // namespace gv
