#include "peer/launch/agent/data_check.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <fmt/format.h>
#include <xxhash.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"

namespace gv {
namespace {

/// "train.csv", or the path where that is the file.
std::string shown(const std::string& path, const std::string& name) {
  return name.empty() ? path : path + "/" + printable(name, 200);
}

/// Names the first file that is not the same, and says how it differs; "": all are the same.
std::string difference(const std::string& path,
                       const std::vector<FileDigest>& here,
                       const std::vector<FileDigest>& there) {
  for (std::size_t k = 0; k < std::max(here.size(), there.size()); ++k) {
    const bool only_here = k >= there.size() || (k < here.size() && here[k].name < there[k].name);
    const bool only_there = k >= here.size() || (k < there.size() && there[k].name < here[k].name);
    if (only_here) return shown(path, here[k].name) + " is missing on one of them";
    if (only_there) return shown(path, there[k].name) + " is missing on one of them";
    if (here[k].bytes != there[k].bytes)
      return fmt::format("{} has {} bytes on one and {} on the other",
                         shown(path, here[k].name),
                         here[k].bytes,
                         there[k].bytes);
    if (here[k].digest != there[k].digest)
      return shown(path, here[k].name) + " has another content";
  }
  return "";
}

}  // namespace

std::vector<std::optional<DataLook>> look_everywhere(
    Machines& machines, const std::vector<std::vector<std::string>>& paths, bool devices) {
  // A gigabyte may have to come from a slow disk; who gives no sign of life has failed long before.
  constexpr auto patience = std::chrono::minutes(2);
  const auto question = [&](std::size_t k) {
    return Json{{"paths", paths.at(k)}, {"devices", devices}}.dump();
  };
  const auto texts = machines.ask(AgentKind::look, AgentKind::looked, question, patience);
  std::vector<std::optional<DataLook>> looks(texts.size());
  for (std::size_t k = 0; k < texts.size(); ++k) {
    if (texts[k].empty()) continue;
    try {
      looks[k] = parse_look(texts[k], paths.at(k).size());
    } catch (const std::exception& wrong) {
      machines.all()[k].host->give_up(wrong.what());
    }
  }
  return looks;
}

std::string data_digest(const DataLook& look) {
  std::string text;
  for (const auto& files : look.data) {
    if (!files) return "";
    for (const FileDigest& file : *files)
      text += fmt::format("{} {} {} {};", file.name.size(), file.name, file.bytes, file.digest);
  }
  if (look.data.empty()) return "";
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size())).substr(0, 8);
}

std::vector<std::string> data_findings(const std::vector<std::string>& hosts,
                                       const std::vector<std::vector<std::string>>& paths,
                                       const std::vector<std::optional<DataLook>>& looks) {
  std::vector<std::string> findings;
  const std::size_t count = paths.empty() ? 0 : paths[0].size();
  for (std::size_t p = 0; p < count; ++p) {
    std::optional<std::size_t> first;
    for (std::size_t k = 0; k < looks.size(); ++k) {
      if (!looks[k]) continue;
      const std::string& host = hosts[k];
      if (!looks[k]->data[p]) {
        findings.push_back(fmt::format(
            "host {0}: {1} is not there\nhelp:  put it there; or say `hosts: {{ {0}: {{ data: "
            "FOLDER "
            "}} }}` where it lies elsewhere; or `launch: {{ data: push }}`, and it is sent along",
            host,
            paths[k][p]));
        continue;
      }
      if (!first) first = k;
      const std::string what = difference(paths[k][p], *looks[*first]->data[p], *looks[k]->data[p]);
      if (what.empty()) continue;
      findings.push_back(fmt::format(
          "host {}: its data are not those of {}: {}\nhelp:  copy them anew; where each "
          "host is to have its own, name the file with {{id}}: part-{{id}}.csv",
          host,
          hosts[*first],
          what));
    }
  }
  return findings;
}

}  // namespace gv
