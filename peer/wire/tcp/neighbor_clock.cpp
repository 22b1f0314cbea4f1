#include "peer/wire/tcp/neighbor_clock.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <xxhash.h>

namespace gv {

std::uint64_t machine_id() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  if (boot.empty()) return 0;
  std::error_code none;  // ignored: kernels without time namespaces have one clock
  boot += std::filesystem::read_symlink("/proc/self/ns/time", none).string();
  return XXH3_64bits(boot.data(), boot.size());
}

Time NeighborClock::sent_at(Time stamp, Time now) {
  if (same_) return std::min(stamp, now);
  // A neighbour may send any number: clamps it to avoid an overflow.
  constexpr Time most{std::chrono::hours(24 * 365 * 100)};
  const Time apart = now - std::clamp(stamp, -most, most);
  if (begun_ == Time::min() || now - begun_ >= window) {
    least_before_ = least_;
    least_ = apart;
    begun_ = now;
  }
  least_ = std::min(least_, apart);
  return now - (apart - std::min(least_, least_before_));
}

}  // namespace gv
