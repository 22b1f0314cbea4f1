#include "gossip/registry.h"

#include <algorithm>

#include <fmt/format.h>

#include "gossip/objections.h"
#include "gossip/plugin.h"

namespace gv {

/// The methods of the tree, by gossip/CMakeLists.txt.
std::span<const AlgorithmRow* const> own_algorithms();

namespace {

/// Rows of plug-ins follow ours. The room is reserved from the beginning, so that spans stay valid.
constexpr std::size_t most_added = 64;

std::vector<const AlgorithmRow*>& table() {
  static std::vector<const AlgorithmRow*> rows = [] {
    const auto own = own_algorithms();
    std::vector<const AlgorithmRow*> all;
    all.reserve(own.size() + most_added);
    all.assign(own.begin(), own.end());
    return all;
  }();
  return rows;
}

std::string objection_to_row(const AlgorithmRow& row) {
  if (row.kind.empty() || row.run == nullptr) return "a row has no kind, or nothing that it runs";
  if (find_algorithm(row.kind, "") != nullptr)
    return fmt::format("there is a method `{}` already", row.kind);
  return "";
}

}  // namespace

std::span<const AlgorithmRow* const> algorithms() {
  return table();
}

std::string add_algorithms(std::span<const AlgorithmRow* const> rows) {
  std::vector<const AlgorithmRow*>& all = table();
  if (rows.size() > all.capacity() - all.size())
    return fmt::format("more than {} methods of plug-ins", most_added);
  for (const AlgorithmRow* row : rows)
    if (std::string wrong = objection_to_row(*row); !wrong.empty()) return wrong;
  all.insert(all.end(), rows.begin(), rows.end());
  return "";
}

const AlgorithmRow* find_algorithm(std::string_view kind, std::string_view order) {
  for (const AlgorithmRow* row : algorithms()) {
    if (row->kind == kind && (order.empty() || row->order == order)) return row;
  }
  return nullptr;
}

std::string objection_to(const AlgorithmRow& row, const Setup& setup, const MixingMatrix* w) {
  if (setup.push_sum && row.mixes && row.promise != Promise::push_sum)
    return fmt::format(
        "{} averages by a doubly stochastic W, and `weights: push-sum` makes none: take "
        "`sgp`, or weights such as `metropolis`",
        row.kind);
  if (setup.by_shares && !row.takes_shares)
    return fmt::format(
        "{} lets all models count alike, and under `weights: shares` they count by their samples: "
        "take `d-psgd`, or weights such as `metropolis` and `train.peer_weights: samples`",
        row.kind);
  if (row.promise == Promise::tracking)
    if (std::string why = objection_to_clip_norm(setup, row.kind); !why.empty()) return why;
  return row.objection != nullptr ? row.objection(setup, w) : "";
}

std::string objection_to_program(const AlgorithmRow& row, const Setup& setup) {
  if (!row.program.objection.empty()) return fmt::format("{}: {}", row.kind, row.program.objection);
  if (setup.data_servers > 0)
    return "`data.servers` send samples that Grapevine reads, and a program reads its own: leave "
           "it out";
  const auto momentum = setup.settings.find("momentum");
  if (row.kind == "easgd" && momentum != setup.settings.end() && momentum->second > 0)
    return "easgd: `momentum` changes steps that Grapevine takes, and the program takes its own: "
           "leave it out, "
           "and "
           "give it to the program's optimizer";
  const auto mu = setup.settings.find("mu");
  if (row.kind == "fedavg" && mu != setup.settings.end() && mu->second > 0)
    return "fedavg: `mu` changes gradients that Grapevine computes, and the program computes its "
           "own: leave it "
           "out, and add the term to the program's loss";
  return "";
}

std::string_view name_of(ProgramUse::Turns turns) {
  switch (turns) {
    case ProgramUse::Turns::gradient_and_step:
      return "gradient_and_step";
    case ProgramUse::Turns::gradient_then_step:
      return "gradient, step";
    case ProgramUse::Turns::gradient:
      return "gradient";
  }
  return "";
}

std::string_view name_of(ProgramUse::Gradients gradients) {
  switch (gradients) {
    case ProgramUse::Gradients::kept:
      return "kept";
    case ProgramUse::Gradients::read:
      return "read";
    case ProgramUse::Gradients::written:
      return "written";
  }
  return "";
}

namespace {

/// Returns whether each vector that travels is moved by its own flows, and no other vector is
/// moved.
bool moves_what_it_carries(const Traffic& traffic) {
  const auto alone = [](const Stream& s) {
    return !s.to_each && s.moves.empty() && s.sent.empty() && s.theirs.empty();
  };
  return !traffic.running && traffic.step == 1 && std::ranges::all_of(traffic.streams, alone);
}

}  // namespace

std::string objection_to_clipping(const AlgorithmRow& row, const Setup& setup) {
  constexpr const char* others = "take `d-psgd` or `all-reduce`";
  if (row.clips_sums && !row.mixes) return "";
  const bool averages = row.promise == Promise::mean && row.channels == nullptr;
  if (!row.mixes || !(averages || row.clips_sums))
    return fmt::format(
        "{} neither averages pair by pair nor sums what all peers give, which is what clipping "
        "bounds: {}",
        row.kind, others);
  const Traffic traffic = row.traffic != nullptr ? row.traffic(setup) : Traffic{};
  if (traffic.clip > 0)
    return fmt::format("{} clips already, by its own `tau`: {}", row.kind, others);
  if (traffic.drawn_alike)
    return fmt::format(
        "{} averages a few coordinates in each round, and clipping bounds how far whole models are "
        "apart: {}",
        row.kind, others);
  if (!moves_what_it_carries(traffic))
    return fmt::format(
        "{} moves other vectors than the models that it sends, and clipping only one of them would "
        "make them inconsistent: {}",
        row.kind, others);
  if (setup.clip == 0.0 && traffic.codec)
    return "`auto` measures what peers send as floats, and a codec changes the format: leave out "
           "`codec`, or give `clip` a length";
  return "";
}

std::string objection_to_chains(const AlgorithmRow& row, const Setup& setup) {
  constexpr const char* others = "take `d-psgd`, `all-reduce`, `local-sgd` or `gradient-tracking`";
  if (!row.by_coordinate)
    return fmt::format(
        "{}{}{} cannot run on parts of a model: it does not act on each coordinate alone, or "
        "exchanges before and after a gradient: {}",
        row.kind, row.order.empty() ? "" : " with order ", row.order, others);
  if (setup.clip)
    return "`robust.clip` measures whole models, and a stage has a part of one: leave it out";
  if (setup.attackers > 0)
    return "attackers lie about whole models, and a stage has a part of one: leave out `attackers`";
  if (setup.data_servers > 0)
    return "`data.servers` hand out minibatches to peers with whole models: leave it out";
  return "";
}

std::string text_of(const Option& option, double value) {
  if (!option.words.empty()) return std::string(option.words[static_cast<std::size_t>(value)]);
  return fmt::format("{:g}", value);
}

Traffic encoded(const Setup& setup) {
  return {.codec = setup.codec};
}

Task<> live(Peer& me, Algorithm run) {
  co_await me.join();
  try {
    co_await run(me);
  } catch (const ChainEnded&) {
    me.stop();
  }
  co_await me.finish();
}

bool has_same_bits(const AlgorithmRow& row, const Settings& settings) {
  const auto leaves_some_behind = [&](std::string_view option) {
    const auto given = settings.find(option);
    return given != settings.end() && given->second != 0;
  };
  return row.synchronous && !leaves_some_behind("backup") && !leaves_some_behind("quorum");
}

std::string objection_to(const std::vector<Channel>& channels) {
  constexpr unsigned end = 32;  // the wire's bounds have a bit for each kind
  for (auto channel = channels.begin(); channel != channels.end(); ++channel) {
    const auto number = static_cast<unsigned>(channel->kind);
    if (!is_channel(channel->kind) || number >= end)
      return fmt::format("a channel has messages of kind {}: take one from 16 to {}", number,
                         end - 1);
    const auto alike = [&](const Channel& other) { return other.kind == channel->kind; };
    if (std::any_of(channels.begin(), channel, alike))
      return fmt::format(
          "two channels of this fleet have messages of kind {}: give the method's own a kind that "
          "gossip/seam/message.h does not name",
          number);
  }
  return "";
}

}  // namespace gv
