#include "peer/record/life/life_record.h"

#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace gv {
namespace {

std::uint64_t next_life(const std::string& folder) {
  std::uint64_t life = 0;
  std::error_code ignored;
  while (std::filesystem::exists(fmt::format("{}/rounds.{}.npy", folder, life), ignored)) ++life;
  return life;
}

}  // namespace

LifeRecord::LifeRecord(std::string folder,
                       PeerId peer,
                       std::vector<PeerId> neighbors,
                       const RecordLimits& limits)
    : folder_(std::move(folder)),
      life_(next_life(folder_)),
      neighbors_(std::move(neighbors)),
      recorder_(peer, limits) {}

Verdict LifeRecord::write_when_due(Time now) {
  if (!recorder_.take_asked_done() && now < due_) return "";
  due_ = now + every;
  return write();
}

/// Training continues without a record: what is wrong is said once.
Verdict LifeRecord::write() {
  try {
    write_record(recorder_, neighbors_, folder_, life_, epoch_, use_of_this_process());
    return "";
  } catch (const std::runtime_error& e) {
    if (std::exchange(failed_, true)) return "";
    return fmt::format("where the time goes is not written down: {}", e.what());
  }
}

}  // namespace gv
