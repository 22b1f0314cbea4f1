#include "optim/host/slices.h"

#include <memory>

#include "optim/machine/workers.h"

namespace gv {
namespace {

/// About 60 us of one core; waking a thread takes 5 to 10 us, and each cut costs a little.
constexpr double flops_of_a_slice = 6e6;

struct Team {
  std::unique_ptr<Workers> workers;  ///< null for the thread alone
  bool busy = false;                 ///< runs slices, whose own work is not divided
};
thread_local Team team;

}  // namespace

void set_compute_threads(int threads) {
  team.workers = threads > 1 ? std::make_unique<Workers>(threads) : nullptr;
}

void run_slices(std::size_t n, const std::function<void(std::size_t)>& slice) {
  if (n <= 1 || team.busy || !team.workers) {
    for (std::size_t i = 0; i < n; ++i) slice(i);
    return;
  }
  team.busy = true;
  team.workers->run(n, slice);
  team.busy = false;
}

std::size_t slices_of(double flops, std::size_t extent) {
  const auto worth = static_cast<std::size_t>(flops / flops_of_a_slice);
  return std::clamp<std::size_t>(worth, 1, std::clamp<std::size_t>(extent, 1, most_slices));
}

std::size_t slice_begin(std::size_t i, std::size_t n, std::size_t extent, std::size_t step) {
  const std::size_t steps = (extent + step - 1) / step;
  return std::min(extent, i * steps / n * step);
}

RowSlices RowSlices::for_work(double flops, std::uint32_t rows, std::uint32_t most) {
  const auto slices = std::min(most, static_cast<std::uint32_t>(slices_of(flops, rows)));
  return {rows, (rows + slices - 1) / slices};
}

}  // namespace gv
