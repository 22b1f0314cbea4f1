#include "peer/cli/embed/program_log.h"

#include <cerrno>
#include <fstream>

#include <fmt/format.h>

#include "optim/error_text.h"
#include "peer/cli/embed/fault.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/fleet/json/json.h"

namespace gv::embed {
namespace {

Json numbers_of(const std::vector<std::pair<std::string, double>>& numbers) {
  Json all = Json::object();
  for (const auto& [name, number] : numbers) all[name] = number;
  return all;
}

}  // namespace

void ProgramLog::keep(Round round, const SayWords& words) {
  Json line{{"round", round}};
  if (!words.log.empty()) line["log"] = numbers_of(words.log);
  if (!words.figures.empty()) line["figures"] = numbers_of(words.figures);
  const std::lock_guard lock(mutex_);
  std::ofstream file(path_, std::ios::app);
  file << line.dump() << '\n';
  file.close();
  if (!file) throw Fault(GV_E_FAILED, fmt::format("{}: {}", path_, error_text(errno)));
}

}  // namespace gv::embed
