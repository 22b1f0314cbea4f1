#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "optim/models/model.h"
#include "peer/fleet/model_profile.h"
#include "peer/runtime/assembly.h"
#include "peer/wire/seal/cipher_speed.h"

namespace gv {

struct AgentBenchOptions {
  std::string environment = "cartpole";
  std::uint32_t memory = 1'000'000;  ///< transitions, all of them there
  std::uint32_t batch = 64;
  double seconds = 4;  ///< how long to measure
};

struct ActingRate {
  std::uint32_t environments = 1;  ///< side by side
  double steps_per_second = 0;     ///< of all of them, median
};

struct AgentBenchReport {
  std::size_t parameters = 0;
  std::vector<ActingRate> acting{};
  double draw_seconds = 0;   ///< a prioritized minibatch, median
  double judge_seconds = 0;  ///< the same, and what it was wrong by becomes priorities
};

/// Measures what an agent does besides its gradients, on one thread: steps of its environment with
/// an MLP of 128 and 128 units, and draws from a full memory with priorities.
AgentBenchReport bench_agent(const AgentBenchOptions& options);

/// Training on one device with one batch: gradient and optimizer step, nothing sent.
struct DeviceRow {
  Device device;
  int threads = 1;  ///< of the CPU
  std::uint32_t batch = 0;
  double samples_per_second = 0;  ///< median
  double gflops = 0;              ///< of the gradient alone, as the simulator counts it
  double speed = 0;               ///< samples per second over those of speed 1
};

/// Measures the fleet's model on the CPU, with each number of threads that its peers have, and on
/// every CUDA device there is, with each batch for about `seconds`. Alone: peers that share a
/// machine share this. `on_row` is called as each is measured. beside: samples per second of speed
/// 1, measured on another machine; 0: those of the first device here, at the same batch.
std::vector<DeviceRow> bench_devices(const Assembly& fleet,
                                     const std::vector<std::uint32_t>& batches,
                                     double seconds,
                                     double beside,
                                     const std::function<void(const DeviceRow&)>& on_row);

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

struct GemmRow {
  std::string name;  ///< "layer 1 forward"
  int m, n, k;
  double gflops;   ///< median
  double of_peak;  ///< of the FMA peak of the same run
};

struct GemmReport {
  double peak_gflops;
  std::string unit;
  int chains;  ///< of multiply-adds, whose rate the peak is
  std::vector<GemmRow> rows;
  double gemms_us;  ///< all GEMMs of one MLP step, one after the other
  double step_us;   ///< the whole step: gradient and SGD update, 784-256-128-10, batch 64
};

/// The matrix products of an MLP step at its own shapes, beside the peak of the same run; one
/// thread.
GemmReport bench_gemm(double seconds);

struct FmaPeak {
  double gflops = 0;      ///< single precision, one thread
  const char* unit = "";  ///< "AVX-512", "AVX2", "portable"
  int chains = 0;         ///< of dependent multiply-adds, side by side
};

/// Vectors that go through v <- a v + b, each from a start of its own, on one unit. Where two began
/// with the same values a compiler could compute them once, and the peak would be one that the
/// processor does not have.
struct FmaUnit {
  const char* name;
  int chains;  ///< enough to hide the latency of two pipelines, few enough for the registers
  int width;   ///< floats of a vector
  /// Returns all lanes of all chains, as they are after so many steps.
  std::vector<float> (*run)(std::int64_t steps);
  double flops_per_step() const { return 2.0 * chains * width; }
};

/// Returns those of this processor, the widest first.
std::vector<FmaUnit> fma_units();

/// The best rate of the widest unit within about `seconds`.
FmaPeak measure_fma_peak(double seconds);

struct HogwildRow {
  const char* data = "sparse";  ///< or "dense"
  std::uint32_t threads = 1;
  double lock_free = 0;              ///< steps per second, median
  double locked = 0;                 ///< the same, one step at a time
  double speed_up = 0;               ///< of lock_free, beside one thread alone; median of pairs
  double locked_speed_up = 0;        ///< the same of locked
  double over_locked = 0;            ///< lock_free / locked, median of pairs
  double loss = 0, locked_loss = 0;  ///< on the test set after one pass over the data, from zero
};

struct HogwildReport {
  std::uint32_t samples = 0;
  std::uint32_t features = 0, nonzeros = 0;  ///< of the sparse data
  std::uint32_t dense_features = 0;          ///< none of them zero
  std::uint32_t processors = 0;              ///< that this process may run on
  std::vector<HogwildRow> rows;
};

/// Steps of logistic regression by threads on one x, without a lock and one at a time, on drawn
/// data; all of them in turn, again and again for `seconds`.
HogwildReport bench_hogwild(const std::vector<std::uint32_t>& threads, double seconds);

struct ProfileOptions {
  std::vector<std::uint32_t> rows{1, 2, 4, 8, 16, 32};  ///< of a microbatch, ascending
  int threads = 1;
  double seconds = 1;  ///< how long to measure each of them
};

/// Measures what the pieces of the fleet's model take, on this machine's processor. In each
/// repetition minibatches of all sizes go through all pieces and back, as in a chain on one
/// machine, and once through the whole model. Of each the lower quartile counts, since others on
/// the machine only make it slower; those of the pieces are then scaled to the whole. `on_rows` is
/// called for each number of rows, with the seconds of the whole model. Throws
/// std::invalid_argument for a model without layers.
ModelProfile profile_model(const Assembly& fleet,
                           const ProfileOptions& options,
                           const std::function<void(std::uint32_t rows, double seconds)>& on_rows);

struct StepOptions {
  ModelSpec model;
  std::uint32_t batch = 32;
  int threads = 1;
  double seconds = 4;  ///< how long to measure
};

/// A report of training on made-up data: pictures of the row's bench_image, or 64 of 65 characters.
struct StepReport {
  std::size_t parameters = 0;
  double flops = 0;        ///< of a gradient
  double seconds = 0;      ///< median of a step: minibatch, gradient, SGD update
  double cpu_seconds = 0;  ///< median of its processor time, when there is one thread; else 0
  std::uint64_t steps = 0;
};

StepReport bench_step(const StepOptions& options);

}  // namespace gv
