#include <string_view>

#include <fmt/format.h>

#include "gossip/registry.h"
#include "peer/cli/command.h"
#include "peer/json/json.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {
namespace {

struct AlgorithmsArguments {
  bool json = false;
};

std::string_view name_of(Promise promise) {
  switch (promise) {
    case Promise::nothing:
      return "nothing";
    case Promise::mean:
      return "mean";
    case Promise::tracking:
      return "tracking";
    case Promise::push_sum:
      return "push-sum";
    case Promise::agreement:
      return "agreement";
    case Promise::once:
      return "once";
  }
  return "";
}

/// The codecs that a row takes.
std::vector<std::string> codecs_of(const AlgorithmRow& row) {
  std::vector<std::string> words = codec_words();
  if (row.codecs == Codecs::none) words.clear();
  if (row.codecs == Codecs::dense)
    std::erase_if(words, [](const std::string& word) { return !Codec{codec_kind(word)}.dense(); });
  return words;
}

void print_json() {
  Json rows = Json::array();
  for (const AlgorithmRow* row : algorithms()) {
    Json roles = Json::array();
    roles.push_back("worker");
    if (row->serve != nullptr) roles.push_back("server");
    Json options = Json::array();
    for (const gv::Option& option : row->options)
      options.push_back(
          Json{{"name", option.name},
               {"usual", option.usual},
               {"least", option.least},
               {"most", option.most},
               {"whole", option.whole},
               {"words", std::vector<std::string>(option.words.begin(), option.words.end())},
               {"help", option.help}});
    rows.push_back(Json{{"kind", row->kind},
                        {"order", row->order},
                        {"roles", roles},
                        {"options", options},
                        {"codecs", codecs_of(*row)},
                        {"promise", name_of(row->promise)},
                        {"synchronous", row->synchronous},
                        {"source", row->summary}});
  }
  fmt::print("{}\n", Json{{"schema", "grapevine.algorithms/1"}, {"rows", rows}}.dump());
}

std::string range_of(const gv::Option& option) {
  if (!option.words.empty()) return fmt::format("{}", fmt::join(option.words, ", "));
  return fmt::format("{:g} .. {:g}", option.least, option.most);
}

void print_text() {
  for (const AlgorithmRow* row : algorithms()) {
    const std::string_view order = row->order;
    fmt::print("{}{}{}\n", row->kind, order.empty() ? "" : ", order ", order);
    fmt::print("    {}\n", row->summary);
    for (const gv::Option& option : row->options)
      fmt::print("    {} = {} ({}): {}\n",
                 option.name,
                 text_of(option, option.usual),
                 range_of(option),
                 option.help);
    const std::vector<std::string> codecs = codecs_of(*row);
    if (!codecs.empty()) fmt::print("    codec: {}\n", fmt::join(codecs, ", "));
  }
}

int list(const AlgorithmsArguments& arguments) {
  arguments.json ? print_json() : print_text();
  return exit_code::done;
}

void declare(Options& options, AlgorithmsArguments& arguments) {
  options.json(arguments.json);
}

}  // namespace

Command algorithms_command() {
  return command("algorithms",
                 "The methods that `algorithm` in a fleet file can name, and their keys",
                 "  grapevine algorithms\n"
                 "  grapevine algorithms --json",
                 declare,
                 list);
}

}  // namespace gv::cli
