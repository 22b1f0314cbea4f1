#include "optim/machine/stopwatch.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "optim/check.h"

namespace gv {
namespace {

double wall_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

double cpu_now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The value of this rank, from 0 on.
double ranked(std::vector<double>& values, std::size_t rank) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::ranges::nth_element(values, place);
  return *place;
}

}  // namespace

double median(std::vector<double> values) {
  GV_CHECK(!values.empty(), "nothing has no median");
  return ranked(values, values.size() / 2);
}

double lower_quartile(std::vector<double> values) {
  GV_CHECK(!values.empty(), "nothing has no quartile");
  return ranked(values, values.size() / 4);
}

MedianTime median_time(const Repetition& repetition, const std::function<void()>& work) {
  for (int k = 0; k < repetition.warmup; ++k) work();
  std::vector<double> wall;
  std::vector<double> cpu;
  const double end = wall_now() + repetition.seconds;
  while (wall.size() < repetition.least || wall_now() < end) {
    const double wall_begin = wall_now();
    const double cpu_begin = cpu_now();
    for (int k = 0; k < repetition.calls; ++k) work();
    cpu.push_back((cpu_now() - cpu_begin) / repetition.calls);
    wall.push_back((wall_now() - wall_begin) / repetition.calls);
  }
  return {median(wall), median(cpu), wall.size()};
}

}  // namespace gv
