#include <set>
#include <string_view>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "peer/cli/bibtex.h"
#include "peer/cli/command.h"
#include "peer/fleet/read/algorithm_reader.h"
#include "peer/runtime/views.h"
#include "peer/study/predict/forecast/round_prediction.h"

namespace gv::cli {
namespace {

struct AlgorithmsArguments {
  std::string kind;
  bool bibtex = false;
  bool json = false;
};

using MethodRows = std::vector<const AlgorithmRow*>;

/// Returns all rows, or those of this kind.
MethodRows rows_of(const std::string& kind) {
  MethodRows rows;
  for (const AlgorithmRow* row : algorithms())
    if (kind.empty() || row->kind == kind) rows.push_back(row);
  return rows;
}

std::vector<std::string> all_kinds() {
  std::vector<std::string> all;
  for (const AlgorithmRow* row : algorithms())
    if (all.empty() || all.back() != row->kind) all.emplace_back(row->kind);
  return all;
}

/// Example fleet of a method, and the cost of a round there.
struct Example {
  std::string text;
  double models = 0;  ///< sent by the busiest peer in a round, in models of 4 d bytes
};

Example example_of(const AlgorithmRow& row) {
  Example example{.text = example_fleet(row)};
  const Assembly fleet(read_fleet_text(example.text));
  const double model = 4.0 * static_cast<double>(fleet.dimension);
  example.models = predict_round(fleet).bytes_per_round / model;
  return example;
}

std::string_view meaning_of(const AlgorithmRow& row) {
  switch (row.promise) {
    case Promise::nothing:
      return "nothing: each trains alone, or makes up later for what is missing";
    case Promise::mean:
      return "the mean of all models is what it would be, whatever is late or lost; a peer that "
             "dies takes "
             "its own along";
    case Promise::tracking:
      return "the same, and what the peers remember of each other sums to zero";
    case Promise::push_sum:
      return "the sums of the masses and of their weights stay; a peer that dies takes its own "
             "along";
    case Promise::agreement:
      return "all hold the same bits after each round; a death ends the run";
    case Promise::once:
      if (row.succeeds)
        return "the servers count each update once; a peer that dies is replaced by `launch: { "
               "restart: "
               "on-failure }`, else a server's death ends the run";
      return "the servers count each update once; a server's death ends the run";
  }
  return "";
}

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

/// Returns the codecs that a row takes.
std::vector<std::string> codecs_of(const AlgorithmRow& row) {
  std::vector<std::string> words = codec_words();
  if (row.codecs == Codecs::none) words.clear();
  if (row.codecs == Codecs::dense)
    std::erase_if(words, [](const std::string& word) { return !Codec{codec_kind(word)}.dense(); });
  return words;
}

/// Returns whether programs with their own gradients can use the method, and its requirements.
Json programs_of(const AlgorithmRow& row) {
  const ProgramUse& use = row.program;
  if (!use.objection.empty()) return Json{{"runs", false}, {"why", use.objection}};
  return Json{{"runs", true},
              {"why", nullptr},
              {"turns", name_of(use.turns)},
              {"gradients", name_of(use.gradients)},
              {"rate", use.rate}};
}

/// Returns whether the method can train agents, and its name for them.
Json agents_of(const AlgorithmRow& row) {
  const AgentUse use = agent_use(row);
  const auto given = [](std::string_view text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return Json{{"runs", use.objection.empty()},
              {"why", given(use.objection)},
              {"name", given(use.name)},
              {"source", given(use.source)}};
}

void print_algorithms_json(const AlgorithmsArguments& arguments) {
  Json rows = Json::array();
  for (const AlgorithmRow* row : rows_of(arguments.kind)) {
    Json roles = Json::array();
    roles.push_back("worker");
    if (row->serve != nullptr) roles.push_back("server");
    const Json options = mapped(row->options, [](const gv::Option& option) {
      return Json{{"name", option.name},
                  {"usual", option.usual},
                  {"least", option.least},
                  {"most", option.most},
                  {"whole", option.whole},
                  {"words", std::vector<std::string>(option.words.begin(), option.words.end())},
                  {"help", option.help}};
    });
    Json entry{{"kind", row->kind},
               {"order", row->order},
               {"roles", roles},
               {"options", options},
               {"codecs", codecs_of(*row)},
               {"promise", name_of(row->promise)},
               {"synchronous", row->synchronous},
               {"programs", programs_of(*row)},
               {"agents", agents_of(*row)},
               {"source", row->summary}};
    if (!arguments.kind.empty()) {
      const Example example = example_of(*row);
      entry["fleet"] = example.text;
      entry["models_per_round"] = example.models;
    }
    rows.push_back(std::move(entry));
  }
  console::print({{"schema", "grapevine.algorithms/1"}, {"rows", rows}});
}

std::string range_of(const gv::Option& option) {
  if (!option.words.empty()) return fmt::format("{}", fmt::join(option.words, ", "));
  return fmt::format("{:g} .. {:g}", option.least, option.most);
}

void print_paragraph(const std::string& text) {
  console::print_wrapped("    " + text, 6);
}

/// Prints only the unexpected: another name for agents, or that the method trains none.
void print_agents(const AgentUse& use) {
  if (!use.objection.empty()) print_paragraph(fmt::format("agents: none; {}", use.objection));
  if (!use.name.empty()) print_paragraph(fmt::format("agents: {}; {}", use.name, use.source));
}

void print_more(const AlgorithmRow& row) {
  fmt::print("    roles: worker{}\n", row.serve == nullptr ? "" : ", server");
  print_paragraph(fmt::format("keeps: {}", meaning_of(row)));
  fmt::print("    bits: {}\n", row.synchronous
                                   ? "the same in `run` and `simulate`"
                                   : "depend on who comes first; `simulate` repeats them");
  const Example example = example_of(row);
  fmt::print("    sends: {:.3g} models a round, out of the busiest peer of this fleet:\n\n{}\n",
             example.models, example.text);
}

void print_algorithms_text(const AlgorithmsArguments& arguments) {
  for (const AlgorithmRow* row : rows_of(arguments.kind)) {
    const std::string_view order = row->order;
    fmt::print("{}{}{}\n", row->kind, order.empty() ? "" : ", order ", order);
    print_paragraph(std::string(row->summary));
    for (const gv::Option& option : row->options)
      print_paragraph(fmt::format("{} = {} ({}): {}", option.name, text_of(option, option.usual),
                                  range_of(option), option.help));
    const std::vector<std::string> codecs = codecs_of(*row);
    if (!codecs.empty()) print_paragraph(fmt::format("codec: {}", fmt::join(codecs, ", ")));
    print_agents(agent_use(*row));
    if (!arguments.kind.empty()) print_more(*row);
  }
}

/// Prints each paper's entry once; a plug-in names its paper in its summary. Papers on agents are
/// printed only for all methods, not for a chosen one.
void print_bibtex(const AlgorithmsArguments& arguments) {
  std::set<std::string> printed;
  const auto print = [&](std::string_view name) {
    for (const std::string& entry : bibtex_of(name))
      if (printed.insert(entry).second) fmt::print("{}", entry);
  };
  for (const AlgorithmRow* row : rows_of(arguments.kind)) {
    print(row->kind);
    if (arguments.kind.empty()) print(agent_use(*row).name);
  }
}

int list(const AlgorithmsArguments& arguments) {
  if (arguments.bibtex) {
    print_bibtex(arguments);
    return exit_code::done;
  }
  arguments.json ? print_algorithms_json(arguments) : print_algorithms_text(arguments);
  return exit_code::done;
}

void declare(Options& options, AlgorithmsArguments& arguments) {
  options.value("KIND", arguments.kind, "Method to show, with a fleet file for it")
      .one_of(all_kinds());
  options.flag("--bibtex", arguments.bibtex, "Print only the papers, as BibTeX entries");
  options.json(arguments.json);
}

}  // namespace

Command algorithms_command() {
  return command("algorithms",
                 "List the methods for `algorithm` in a fleet file, and their options",
                 "  grapevine algorithms\n"
                 "  grapevine algorithms choco-sgd\n"
                 "  grapevine algorithms choco-sgd --bibtex >> paper.bib\n"
                 "  grapevine algorithms --json",
                 declare, list);
}

}  // namespace gv::cli
