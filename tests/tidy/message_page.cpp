#include "tests/tidy/message_page.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace gv::tidy {
namespace {

struct Group {
  const char* title;
  std::vector<const char*> places;  ///< beginnings of paths: the longest match takes it
};

const std::vector<Group>& message_groups() {
  static const std::vector<Group> groups{
      {"The fleet file", {"peer/fleet/", "peer/runtime/assembly/assembly"}},
      {"A run as it goes",
       {"gossip/seam/journal", "peer/launch/", "peer/record/disk/", "peer/record/run_folder",
        "peer/record/life/", "peer/record/watch/", "peer/model/checkpoint/",
        "peer/study/simulated_run", "peer/cli/embed/", "peer/runtime/tcp_", "peer/runtime/ledger",
        "peer/cli/run/run_", "peer/cli/run/peer_", "peer/cli/run/collect_"}},
      {"Watching a run",
       {"peer/show/live/", "peer/cli/run/top_", "peer/cli/run/stop_", "peer/cli/results/trace_",
        "peer/cli/run/checkpoint_"}},
      {"Links between peers", {"gossip/link/", "peer/wire/"}},
      {"Keys and certificates", {"peer/wire/seal/"}},
      {"Other machines", {"peer/launch/agent/", "peer/launch/deploy/", "peer/launch/lobby/"}},
      {"Methods and servers", {"gossip/"}},
      {"Graphs and weights", {"graph/formats/", "graph/mixing/", "graph/topolog", "graph/spec/"}},
      {"Spectra and predictions", {"graph/", "peer/study/predict/"}},
      {"Tables, pictures and texts", {"optim/data/", "peer/runtime/assembly/load_data"}},
      {"Models and optimizers", {"optim/", "peer/model/"}},
      {"GPUs", {"gpu/", "peer/runtime/assembly/make_"}},
      {"Simulation and the swarm", {"peer/sim/", "peer/cli/run/simulate_", "peer/cli/run/swarm_"}},
      {"Sweeps", {"peer/study/sweep/", "peer/cli/results/sweep_"}},
      {"What runs have left",
       {"peer/study/compare/", "peer/record/", "peer/runtime/views", "peer/show/page/",
        "peer/fleet/json/"}},
      {"Commands and their options", {""}}};
  return groups;
}

/// Returns the group with the longest matching beginning, so that a folder of one group may hold a
/// file of another.
std::string title_of(const Message& message) {
  std::string title;
  std::size_t longest = 0;
  for (const Group& group : message_groups()) {
    for (const std::string_view place : group.places) {
      if (place.size() < longest || !message.path.starts_with(place)) continue;
      title = group.title;
      longest = place.size();
    }
  }
  return title;
}

std::string code(const std::string& text) {
  const bool plain = text.find('`') == std::string::npos;
  std::string quoted(plain ? "`" : "`` ");
  quoted.append(text).append(plain ? "`" : " ``");
  return quoted;
}

/// Returns the message of a line "- `text`"; "" for any other line.
std::string message_in(const std::string& line) {
  if (line.starts_with("- `` ") && line.ends_with(" ``")) return line.substr(5, line.size() - 8);
  if (line.starts_with("- `") && line.ends_with("`")) return line.substr(3, line.size() - 4);
  return "";
}

constexpr const char* to_do = "    - What to do: ";

/// Returns a key by group: a message may be in several groups, with a different note in each.
std::string key(const std::string& title, const std::string& text) {
  return title + ": " + text;
}

/// Returns the messages of one group, each once, with all advice about what to do.
std::string list_of(const std::string& title,
                    const std::vector<Message>& messages,
                    const WrittenNotes& written) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> helps;
  for (const Message& message : messages) {
    if (title_of(message) != title) continue;
    const auto [at, fresh] = helps.try_emplace(message.text);
    if (fresh) order.push_back(message.text);
    if (!message.help.empty() && std::ranges::count(at->second, message.help) == 0)
      at->second.push_back(message.help);
  }
  std::string list;
  for (const std::string& text : order) {
    list += "- " + code(text) + "\n";
    for (const std::string& help : helps[text]) list += to_do + code(help) + "\n";
    const auto notes = written.notes.find(key(title, text));
    if (notes == written.notes.end()) continue;
    for (const std::string& note : notes->second) list += note + "\n";
  }
  return list;
}

}  // namespace

WrittenNotes read_notes(const std::vector<std::string>& page) {
  WrittenNotes written;
  std::string title, message;
  for (const std::string& line : page) {
    if (line.starts_with("## ")) {
      title = line.substr(3);
      message.clear();
    } else if (const std::string found = message_in(line); !title.empty() && !found.empty()) {
      message = found;
    } else if (title.empty()) {
      written.begins += line + "\n";
    } else if (message.empty() && !line.empty()) {
      written.groups[title] += line + "\n";
    } else if (line.starts_with("    ") && !line.starts_with(to_do)) {
      written.notes[key(title, message)].push_back(line);
    }
  }
  return written;
}

std::string message_page(const std::vector<Message>& messages, const WrittenNotes& written) {
  std::string page = written.begins;
  for (const Group& group : message_groups()) {
    const std::string title = group.title;
    const auto introduction = written.groups.find(title);
    page += "## " + title + "\n\n";
    if (introduction != written.groups.end()) page += introduction->second + "\n";
    page += list_of(title, messages, written) + "\n";
  }
  page.pop_back();
  return page;
}

Findings loose_ends(const std::vector<Message>& messages, const WrittenNotes& written) {
  Findings findings;
  std::set<std::string> said;
  for (const Message& message : messages) said.insert(key(title_of(message), message.text));
  for (const auto& [text, notes] : written.notes)
    if (!said.contains(text)) findings.push_back("a note, and no message: " + text);
  for (const Group& group : message_groups())
    if (!written.groups.contains(group.title))
      findings.push_back(std::string("no introduction: ") + group.title);
  return findings;
}

}  // namespace gv::tidy
