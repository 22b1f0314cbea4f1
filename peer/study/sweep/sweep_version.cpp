#include "peer/study/sweep/sweep_version.h"

#include <stdexcept>

#include <fmt/format.h>
#include <xxhash.h>

#include "peer/study/sweep/sweep_folder.h"

namespace gv {
namespace {

constexpr std::string_view prefix = "version-";
constexpr std::size_t most_bytes = 64U << 20;

}  // namespace

std::string version_of(const SweepPlan& plan, const std::string& build) {
  std::string words = build + ";";
  for (const std::string& path : {plan.file.path, plan.file.base}) {
    const auto text = read_whole(path, most_bytes);
    if (!text) throw std::runtime_error(path + ": cannot be read");
    words += fmt::format("{}:{};", text->size(), *text);
  }
  const XXH128_hash_t hash = XXH3_128bits(words.data(), words.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

void refuse_other_versions(const SweepPlan& plan, const std::string& build, Claims& claims) {
  const std::string own = fmt::format("{}{}-", prefix, version_of(plan, build));
  for (const std::string& name : claims.names()) {
    if (!name.starts_with(prefix) || name.starts_with(own)) continue;
    const auto holder = claims.holder(name);
    if (!holder && claims.take(name)) claims.release(name);
    if (!holder) continue;
    throw std::runtime_error(
        fmt::format("{}: {} works on another version of it, or with another build, in {}\n"
                    "help:  wait until that has ended, end it, or set another output.dir",
                    plan.file.path,
                    *holder,
                    plan.file.output_dir));
  }
}

void claim_version(const SweepPlan& plan, const std::string& build, Claims& claims) {
  claims.take(fmt::format("{}{}-{}", prefix, version_of(plan, build), claims.token()));
}

}  // namespace gv
