#include "optim/machine/workers.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <sched.h>
#include <unistd.h>

#include "optim/check.h"
#include "optim/machine/cache_home.h"

// Threads synchronize without a lock, by the word `door_`. A helper enters by adding itself while
// the door is open; the caller closes it and waits until the helpers inside have left.

namespace gv {
namespace {

constexpr std::uint32_t open = 1U << 11;
constexpr std::uint32_t helpers = open - 1;       ///< helpers inside; above `open`: the job number
constexpr std::uint32_t another_job = open << 1;  ///< the number wraps around

/// Waits until `word` differs from `old`. Spins for about a tenth of a millisecond, yielding to
/// other threads, because pieces come in bursts and waking takes 50 us; then sleeps.
void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  for (int look = 0; look < 200; ++look) {
    if (word != old) return;
    std::this_thread::yield();
  }
  word.wait(old);
}

/// "/user.slice/session-1.scope" of "0::/user.slice/session-1.scope" (cgroups(7)); "" if there is
/// no such line.
std::string own_group() {
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("0::/")) return line.substr(3);
  return "";
}

}  // namespace

Workers::Workers(int threads) {
  GV_CHECK(threads >= 1 && threads <= 1024, "as many threads as the door counts");
  try {
    for (int t = 1; t < threads; ++t) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // The system gives no more threads. Fewer do the same pieces.
  }
}

Workers::~Workers() {
  stopping_ = true;
  door_.fetch_add(another_job);
  door_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(std::size_t n, const std::function<void(std::size_t)>& piece) {
  if (threads_.empty() || n <= 1) {
    for (std::size_t i = 0; i < n; ++i) piece(i);
    return;
  }
  piece_ = &piece;
  pieces_ = n;
  stride_ = std::clamp<std::size_t>(n / (8 * (threads_.size() + 1)), 1, 64);
  next_ = 0;
  const std::uint32_t finished = finished_;
  door_.fetch_add(another_job + open);
  door_.notify_all();
  claim();
  if ((door_.fetch_sub(open) & helpers) != 0) wait_while(finished_, finished);
}

void Workers::work() {
  std::uint32_t helped = 0;
  for (;;) {
    std::uint32_t door = door_;
    if (stopping_) return;
    const std::uint32_t job = door / another_job;
    if ((door & open) == 0 || job == helped) {
      wait_while(door_, door);
      continue;
    }
    if (!door_.compare_exchange_weak(door, door + 1)) continue;
    helped = job;
    claim();
    if (((door_.fetch_sub(1) - 1) & (helpers | open)) != 0) continue;
    ++finished_;
    finished_.notify_one();
  }
}

void Workers::claim() {
  for (;;) {
    const std::size_t first = next_.fetch_add(stride_);
    if (first >= pieces_) return;
    const std::size_t last = std::min(pieces_, first + stride_);
    for (std::size_t i = first; i < last; ++i) (*piece_)(i);
  }
}

std::vector<std::string> control_groups() {
  std::vector<std::string> folders;
  for (std::string group = own_group(); !group.empty();
       group.resize(group == "/" ? 0 : std::max<std::size_t>(1, group.rfind('/')))) {
    std::string folder = "/sys/fs/cgroup" + group + "/";
    folders.push_back(std::move(folder));
  }
  return folders;
}

std::optional<double> quota_in(const std::string& cpu_max) {
  std::istringstream in(cpu_max);
  double time = 0, period = 0;
  if (!(in >> time >> period) || time <= 0 || period <= 0) return {};
  return time / period;
}

unsigned UsableCores::count() const {
  const double most = quota ? std::ceil(*quota) : allowed;
  return std::max(1U, std::min(allowed, static_cast<unsigned>(std::min(most, 1e6))));
}

UsableCores usable_cores() {
  UsableCores cores{.online = static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)))};
  cores.allowed = cores.online;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) == 0)
    cores.allowed = static_cast<unsigned>(std::max(1, CPU_COUNT(&mask)));
  for (const std::string& folder : control_groups())
    if (const auto quota = quota_in(text_of_file(folder + "cpu.max")))
      cores.quota = std::min(*quota, cores.quota.value_or(*quota));
  return cores;
}

}  // namespace gv
