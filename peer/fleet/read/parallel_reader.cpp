#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet_setup.h"
#include "peer/fleet/read/sections.h"

namespace gv {
namespace {

using Schedule = ParallelSpec::Schedule;

/// Returns the divisor of n nearest to `wish`; of two, the smaller.
std::uint32_t nearest_divisor(std::uint32_t n, std::uint32_t wish) {
  std::uint32_t best = 1;
  const auto far = [=](std::uint32_t d) { return d > wish ? d - wish : wish - d; };
  for (std::uint32_t d = 1; d <= n; ++d)
    if (n % d == 0 && far(d) < far(best)) best = d;
  return best;
}

class ParallelReader : Readers {
 public:
  ParallelReader(Source& source, Fleet& fleet) : Readers(source), fleet_(fleet) {}

  void read(const Value& value) {
    MapReader map(source_, &value, "parallel");
    if (const Value* stages = map.take("stages"))
      read_stages(*stages);
    else
      source_.error(value, "missing key `stages`",
                    "write how many peers divide a model, such as `parallel: { stages: 2 }`");
    const Value* const microbatches = map.read("microbatches", spec_.microbatches);
    const Value* const ahead = map.take("ahead");
    if (ahead != nullptr) read_ahead(*ahead);
    map.read("recompute", spec_.recompute);
    map.choose("schedule", spec_.schedule);
    if (spec_.schedule == Schedule::pipedream) spec_.ahead = 1;
    const Value* const vertical_sync = map.read("vertical_sync", spec_.vertical_sync);
    const Value* const place = map.take("place");
    const Value* const copies = map.take("copies");
    const Value* const tensor = map.read("tensor", spec_.tensor);
    map.finish();
    check_schedule(microbatches, ahead, vertical_sync);
    if (copies != nullptr) read_copies(*copies);
    if (spec_.tensor > 1) check_tensor(*tensor);
    check_peers(value);
    check_batches(microbatches != nullptr ? *microbatches : value);
    if (place != nullptr) read_place(*place);
    fleet_.parallel = std::move(spec_);
  }

 private:
  void read_stages(const Value& value) {
    if (value.kind != Value::Kind::sequence)
      return set(&value, spec_.stages, count("parallel.stages"));
    std::set<std::string> seen;
    for (const Value& item : value.items) {
      const std::string name = read_word(source_, item).value_or("");
      if (!seen.insert(name).second)
        source_.error(item, fmt::format("two stages begin with `{}`", printable(name, 100)),
                      "name each module once, in their order");
      spec_.names.push_back(name);
    }
    if (value.items.empty())
      source_.error(value, "a model has one stage at least",
                    "write how many, or the modules that they begin with");
    else
      spec_.stages = static_cast<PeerId>(value.items.size());
  }

  void read_ahead(const Value& value) {
    if (value.kind == Value::Kind::scalar && value.text == "all")
      spec_.ahead = ParallelSpec::all;
    else
      set(&value, spec_.ahead, count("parallel.ahead"));
  }

  /// Without flush, a minibatch has no microbatches, and PipeDream determines how far ahead a stage
  /// works.
  void check_schedule(const Value* microbatches, const Value* ahead, const Value* vertical_sync) {
    if (spec_.schedule == Schedule::flush) {
      if (spec_.vertical_sync)
        source_.error(*vertical_sync,
                      "`vertical_sync` chooses between weights of several ages, and under "
                      "`schedule: flush` a stage has only one",
                      "leave it out, or write `schedule: pipedream`");
      return;
    }
    if (spec_.microbatches > 1)
      source_.error(*microbatches,
                    "under `schedule: pipedream` whole minibatches follow each other, which "
                    "keeps all stages at work without `microbatches`",
                    "leave it out, or write `schedule: flush`");
    if (ahead != nullptr)
      source_.error(*ahead,
                    "under `schedule: pipedream` a stage is ahead by one minibatch per downstream "
                    "stage, and `ahead` counts microbatches",
                    "leave it out, or write `schedule: flush`");
  }

  /// Copies require a single chain. One copy of each stage is the same as no `copies`.
  void read_copies(const Value& value) {
    std::vector<PeerId> copies;
    if (value.kind == Value::Kind::sequence)
      for (const Value& item : value.items)
        copies.push_back(static_cast<PeerId>(count("parallel.copies")(item).value_or(1)));
    if (copies.size() != spec_.stages)
      return source_.error(value,
                           fmt::format("`copies` has numbers for {}, and there are {}",
                                       counted(copies.size(), "stage"), spec_.stages),
                           "write a number for each stage, such as `stages: 2, copies: [3, 1]`");
    const PeerId most = *std::ranges::max_element(copies);
    const std::uint64_t peers = std::accumulate(copies.begin(), copies.end(), std::uint64_t{0});
    if (most == 1) return static_cast<void>(check_one_chain(value, peers));
    if (spec_.schedule != Schedule::flush)
      source_.error(value,
                    "`copies` share the microbatches of a minibatch, and under `schedule: "
                    "pipedream` it has none",
                    "leave it out, or write `schedule: flush`");
    else if (most > spec_.microbatches)
      source_.error(value,
                    fmt::format("{} copies of a stage share {}, so that some would have nothing to "
                                "do",
                                most, counted(spec_.microbatches, "microbatch", "microbatches")),
                    fmt::format("take `microbatches: {}` or more, or fewer copies", most));
    else if (check_one_chain(value, peers))
      spec_.copies = std::move(copies);
  }

  void check_tensor(const Value& value) {
    if (spec_.copies.empty() && spec_.schedule == Schedule::flush) return;
    source_.error(
        value,
        fmt::format("`tensor` needs `schedule: flush` and stages without `copies`, and {}",
                    spec_.copies.empty() ? "the schedule is `pipedream`" : "these have copies"),
        "take only one: `tensor`, `copies` or `schedule: pipedream`");
    spec_.tensor = 1;
  }

  bool check_one_chain(const Value& value, std::uint64_t peers) {
    if (peers == fleet_.size()) return true;
    source_.error(value,
                  fmt::format("with `copies` one chain has {} peers, and the fleet has {}", peers,
                              fleet_.size()),
                  fmt::format("take `peers: {}`, or numbers that are {} together: a fleet with "
                              "copies is one chain",
                              peers, fleet_.size()));
    return false;
  }

  void check_peers(const Value& at) {
    const PeerId n = fleet_.size();
    const PeerId chain = spec_.chains().peers();
    if (n % chain == 0) return;
    source_.error(
        at,
        spec_.tensor == 1
            ? fmt::format("{} peers cannot be divided into chains of {}", n, spec_.stages)
            : fmt::format(
                  "{} peers cannot be divided into chains of {} stages with {} members each", n,
                  spec_.stages, spec_.tensor),
        spec_.tensor == 1
            ? fmt::format("take `peers: {}`, or {} stages", (n / spec_.stages + 1) * spec_.stages,
                          nearest_divisor(n, spec_.stages))
            : fmt::format("take `peers: {}`, or fewer members", (n / chain + 1) * chain));
  }

  void check_batches(const Value& at) {
    const ChainMap chains = spec_.chains();
    if (fleet_.size() % chains.peers() != 0) return;
    for (PeerId i = 0; i < fleet_.size(); ++i) {
      const PeerId first = chains.first(i);
      const std::uint32_t batch = fleet_.peers[i].batch;
      if (batch != fleet_.peers[first].batch)
        return source_.error(at,
                             fmt::format("peers {} and {} are of one chain, and have batches of {} "
                                         "and {}",
                                         first, i, fleet_.peers[first].batch, batch),
                             "give all peers of a chain the same `batch`");
      if (batch % spec_.microbatches != 0)
        return source_.error(
            at,
            fmt::format("a batch of {} cannot be divided into {} equal microbatches", batch,
                        spec_.microbatches),
            fmt::format("take `microbatches: {}`, or a batch of {}",
                        nearest_divisor(batch, spec_.microbatches),
                        (batch / spec_.microbatches + 1) * spec_.microbatches));
    }
  }

  /// Moves peers to other machines; their ids stay, so other code is not affected.
  void read_place(const Value& value) {
    const PeerId n = fleet_.size();
    if (value.kind == Value::Kind::sequence)
      for (const Value& item : value.items)
        spec_.place.push_back(
            static_cast<PeerId>(read_count(source_, item, 0, most_peers).value_or(most_peers)));
    std::vector<PeerId> sorted = spec_.place;
    std::ranges::sort(sorted);
    bool all = sorted.size() == n;
    for (PeerId i = 0; all && i < n; ++i) all = sorted[i] == i;
    if (!all)
      return source_.error(
          value, fmt::format("`place` names each of the peers 0 to {} once", n - 1),
          "write them in the order of the stages, chain by chain, such as `place: [0, 2, 1, 3]`");
    const std::vector<PeerSpec> peers = fleet_.peers;
    for (PeerId i = 0; i < n; ++i) fleet_.peers[i] = peers[spec_.place[i]];
  }

  Fleet& fleet_;
  ParallelSpec spec_;
};

/// Reports other keys of the file that have no meaning with `parallel`.
class ParallelChecks {
 public:
  ParallelChecks(Source& source, const Value& root, const Fleet& fleet)
      : source_(source), root_(root), fleet_(fleet), parallel_(*root.find("parallel")) {}

  void check() {
    if (fleet_.program)
      refuse(root_.find("program"),
             "`program` brings a model of its own, which only it can divide");
    check_work();
    check_method();
    if (fleet_.evaluate_period > Time{0})
      refuse(root_.find("evaluate", "every"),
             "`evaluate.every` is a time, at which the stages of a model are in different rounds: "
             "write it in rounds or epochs");
    if (fleet_.by_samples)
      refuse(root_.find("train", "peer_weights"),
             "`train.peer_weights` weighs whole gradients, and a stage has a part of one");
    if (fleet_.data.per_peer())
      refuse(root_.find("data", "file"),
             "each peer has a table of its own, and the first and the last stage of a chain need "
             "the same samples");
    if (fleet_.restart)
      refuse(root_.find("launch", "restart"),
             "a process that replaces a stage does not have the minibatches in flight: "
             "leave out `launch.restart`, and resume with `run --resume`");
    for (const PeerSpec& peer : fleet_.peers)
      if (peer.device.starts_with("cuda"))
        return source_.error(parallel_.place, static_cast<int>(parallel_.key.size()),
                             "a stage of a model computes only on the CPU",
                             "write `device: cpu` for all peers");
  }

 private:
  void refuse(const Value::Entry* other, const std::string& why) {
    if (other == nullptr) return;
    source_.conflict(parallel_, *other, why, fmt::format("remove `{}`, or `parallel`", other->key));
  }

  void check_work() {
    const auto is_auto = [](const Value::Entry* e) {
      return e != nullptr && (e->value.kind == Value::Kind::map || e->value.text == "auto");
    };
    for (const char* key : {"batch", "local_steps"})
      if (const Value::Entry* const e = root_.find("train", key); is_auto(e))
        refuse(e, fmt::format("`train.{}: auto` gives each peer its own value, and all stages of a "
                              "chain need the same: write a number",
                              key));
    if (fleet_.parallel->schedule == Schedule::pipedream && fleet_.local_steps > 1)
      refuse(root_.find("train", "local_steps"),
             "under `schedule: pipedream` a round is one minibatch: write `local_steps: 1`, or "
             "`schedule: flush`");
  }

  void check_method() {
    const AlgorithmRow* const row = find_algorithm(fleet_.algorithm, fleet_.order);
    const std::string why = row == nullptr ? "" : objection_to_chains(*row, setup_of(fleet_));
    if (!why.empty()) source_.error(parallel_.place, static_cast<int>(parallel_.key.size()), why);
    if (why.empty() && row != nullptr) check_copies(*row);
  }

  void check_copies(const AlgorithmRow& row) {
    if (fleet_.parallel->copies.empty()) return;
    const Value& copies = parallel_.value.find("copies")->value;
    if (row.kind != "all-reduce")
      return source_.error(copies,
                           fmt::format("the copies of a stage average the gradient of each "
                                       "minibatch, and `{}` averages something else",
                                       row.kind),
                           "write `algorithm: all-reduce`, or leave `copies` out");
    const std::string why = objection_to_copies(row, setup_of(fleet_), fleet_.parallel->copies);
    if (!why.empty()) source_.error(copies, why);
  }

  Source& source_;
  const Value& root_;
  const Fleet& fleet_;
  const Value::Entry& parallel_;
};

}  // namespace

void read_parallel(Source& source, const Value* value, Fleet& fleet) {
  if (value != nullptr) ParallelReader(source, fleet).read(*value);
}

std::string objection_to_copies(const AlgorithmRow& row,
                                const Setup& setup,
                                const std::vector<PeerId>& copies) {
  Setup among = setup;
  for (const PeerId count : copies) {
    among.peers = count;
    if (std::string why = row.objection(among, nullptr); !why.empty()) return why;
  }
  return "";
}

void check_parallel(Source& source, const Value& root, const Fleet& fleet) {
  if (fleet.parallel && source.diagnostics().empty()) ParallelChecks(source, root, fleet).check();
}

}  // namespace gv
