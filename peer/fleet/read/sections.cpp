#include "peer/fleet/read/sections.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "gossip/steps/attack.h"
#include "optim/data/table/table_plan.h"
#include "peer/fleet/fleet_setup.h"
#include "peer/fleet/keys/key_words.h"

namespace gv {
namespace {

/// Returns the distance, 0 for `auto`, or nothing for `none`.
std::optional<double> read_clip(Source& source, const Value& value) {
  if (value.kind == Value::Kind::scalar && value.text == "none") return {};
  if (value.kind == Value::Kind::scalar && value.text == "auto") return 0.0;
  char* end = nullptr;
  if (value.kind == Value::Kind::scalar) std::strtod(value.text.c_str(), &end);
  if (end != nullptr && end != value.text.c_str() && *end == 0)
    return read_number(source, value, "robust.clip");
  const Takes& range = key_range("robust.clip");
  source.error(value, fmt::format("`clip` is `auto`, `none`, or a length from {:g} to {:g}",
                                  range.least, range.most));
  return {};
}

constexpr double most_weight = 1e6;
constexpr const char* help = "write `class_weights: balanced`, or `class_weights: { rare: 10 }`";

using Kind = Injection::Kind;
constexpr std::array<std::pair<std::string_view, Kind>, 4> verbs{
    {{"kill", Kind::kill}, {"start", Kind::start}, {"stop", Kind::stop}, {"cut", Kind::cut}}};
constexpr const char* inject_help =
    "such as `inject: [{ at: 60 s, kill: 3 }, { at: 90 s, start: 3 }, "
    "{ at: 30 s, stop: 2, for: 5 s }, { at: 30 s, cut: [1, 2], for: 10 s }]`";

class FaultsReader : Readers {
 public:
  FaultsReader(Source& source, PeerId peers) : Readers(source), peers_(peers) {}

  FaultSpec read(const Value* value) {
    MapReader map(source_, value, "faults");
    FaultSpec faults;
    const Value* heartbeat = map.take("heartbeat");
    const Value* dead_after = map.take("dead_after");
    set(heartbeat, faults.heartbeat, duration());
    set(dead_after, faults.dead_after, duration());
    map.read("deadline", faults.deadline);
    map.read("stuck_after", faults.stuck_after);
    map.read("ledger", faults.ledger);
    set(map.take("min_peers"), faults.min_peers, count(1, std::max<PeerId>(1, peers_)));
    if (const Value* inject = map.take("inject", "none")) faults.inject = read_injections(*inject);
    map.finish();
    const Value* wrong = heartbeat != nullptr ? heartbeat : dead_after;
    if (wrong != nullptr &&
        (faults.heartbeat <= Time{0} || faults.dead_after < 2 * faults.heartbeat)) {
      source_.error(*wrong,
                    "dead_after must be at least two heartbeats, and a heartbeat takes time",
                    "the defaults are `heartbeat: 0.5 s` and `dead_after: 5 s`");
    }
    return faults;
  }

 private:
  std::vector<Injection> read_injections(const Value& list) {
    std::vector<Injection> all;
    if (list.kind != Value::Kind::sequence) {
      source_.error(list, "expected a list of faults", inject_help);
      return all;
    }
    for (const Value& item : list.items) all.push_back(read_injection(item));
    std::ranges::stable_sort(all, {}, &Injection::at);
    return all;
  }

  Injection read_injection(const Value& item) {
    MapReader map(source_, &item, "faults.inject");
    Injection injection;
    const Value* at = map.take("at");
    if (at == nullptr) source_.error(item, "missing key `at`", inject_help);
    set(at, injection.at, duration());
    int named = 0;
    for (const auto& [verb, kind] : verbs) {
      const Value* whom = map.take(std::string(verb));
      if (whom == nullptr) continue;
      ++named;
      injection.kind = kind;
      kind == Kind::cut ? read_pair(*whom, injection) : set(whom, injection.peer, peer());
    }
    if (named != 1) source_.error(item, "expected one of kill, start, stop and cut", inject_help);
    read_length(item, map.take("for"), injection);
    map.finish();
    return injection;
  }

  void read_length(const Value& item, const Value* length, Injection& injection) {
    const bool lasts = injection.kind == Kind::stop || injection.kind == Kind::cut;
    set(length, injection.length, duration());
    if (lasts && length == nullptr)
      source_.error(item, "missing key `for`: how long it lasts", inject_help);
    if (!lasts && length != nullptr)
      source_.error(*length, "only `stop` and `cut` last for a time", inject_help);
  }

  void read_pair(const Value& pair, Injection& injection) {
    if (pair.kind != Value::Kind::sequence || pair.items.size() != 2)
      return source_.error(pair, "expected two peers, such as `cut: [1, 2]`");
    set(&pair.items[0], injection.peer, peer());
    set(&pair.items[1], injection.other, peer());
    if (injection.peer == injection.other)
      source_.error(pair, fmt::format("peer {} has no link with itself", injection.peer));
  }

  std::function<std::optional<std::uint64_t>(const Value&)> peer() {
    return count(0, peers_ > 0 ? peers_ - 1 : 0);
  }

  PeerId peers_;
};

LearningRate read_rate_schedule(Source& source, const Value* value) {
  MapReader map(source, value, "train.optimizer.schedule", true);
  LearningRate s;
  map.choose("kind", s.kind);
  if (s.kind == "step") {
    if (const Value* every = map.take("every")) {
      if (const auto e = read_every(source, *every, {"step"}))
        s.every = static_cast<std::uint64_t>(std::max(1.0, e->count));
    }
    map.read("factor", s.factor);
  }
  if (s.kind == "lian") {
    map.read("lipschitz", s.lipschitz);
    map.read("sigma", s.sigma);
  }
  map.finish();
  return s;
}

using Figure = TargetSpec::Figure;
using Whose = TargetSpec::Whose;

constexpr double largest_loss = 1e300;

/// Reads whose figure counts: local models have only a mean loss and a least accuracy.
std::optional<Whose> read_whose(Source& source, const Value& value, Figure figure) {
  const auto word = read_choice(source, value, {"mean", "local", "worst"});
  if (!word) return std::nullopt;
  if (*word == "mean") return Whose::mean;
  const bool accuracy = figure == Figure::accuracy;
  if ((*word == "worst") == accuracy) return accuracy ? Whose::worst : Whose::local;
  source.error(value, accuracy ? "`of: local` is about a loss" : "`of: worst` is about an accuracy",
               accuracy ? "take `of: worst`, the least accurate local model, or `of: mean`"
                        : "take `of: local`, the mean loss of the local models, or `of: mean`");
  return std::nullopt;
}

}  // namespace

AttackersSpec read_attackers(Source& source, const Value* value, PeerId trainers) {
  AttackersSpec spec;
  MapReader map(source, value, "attackers");
  map.read("count", spec.count);
  const std::vector<AttackRow> rows = attacks();
  std::vector<std::string> kinds;
  for (const AttackRow& row : rows) kinds.emplace_back(row.kind);
  set(map.take("kind"), spec.kind,
      [&](const Value& kind) { return read_choice(source, kind, kinds); });
  spec.strength = std::ranges::find(rows, spec.kind, &AttackRow::kind)->strength;
  map.read("strength", spec.strength);
  map.finish();
  if (value != nullptr && spec.count >= trainers)
    source.error(
        *value,
        fmt::format("{} attackers among {} peers leave no honest peer: take fewer attackers",
                    spec.count, trainers));
  return spec;
}

void read_robust(Source& source, const Value* value, Fleet& fleet) {
  MapReader map(source, value, "robust");
  const Value* clip = map.take("clip");
  map.finish();
  if (clip == nullptr) return;
  fleet.clip = read_clip(source, *clip);
  const AlgorithmRow* row = find_algorithm(fleet.algorithm, fleet.order);
  if (!fleet.clip || row == nullptr) return;
  const std::string why = objection_to_clipping(*row, setup_of(fleet));
  if (!why.empty()) source.error(*clip, why);
}

ClassWeights read_class_weights(Source& source, const Value* value) {
  ClassWeights weights;
  if (value == nullptr) return weights;
  if (value->kind == Value::Kind::scalar && value->text == "balanced") {
    weights.balanced = true;
    return weights;
  }
  if (value->kind != Value::Kind::map || value->entries.empty() ||
      value->entries.size() > table_bounds::classes) {
    source.error(*value, "expected `balanced`, or a map with a weight for each class", help);
    return weights;
  }
  for (const Value::Entry& entry : value->entries)
    if (const auto weight = read_number(source, entry.value, 0, most_weight))
      weights.named[entry.key] = *weight;
  return weights;
}

FaultSpec read_faults(Source& source, const Value* value, PeerId peers) {
  return FaultsReader(source, peers).read(value);
}

OptimizerSpec read_optimizer(Source& source, const Value* value) {
  MapReader map(source, value, "train.optimizer", true);
  OptimizerSpec o;
  map.choose("kind", o.kind);
  if (o.kind != "sgd") o.lr = 1e-3;
  if (o.kind == "adamw") o.weight_decay = 0.01;
  if (o.kind == "muon") {
    o.weight_decay = 0.1;
    o.momentum = 0.95;
    o.nesterov = true;
  }
  map.read("lr", o.lr);
  map.read("weight_decay", o.weight_decay);
  map.read("clip_norm", o.clip_norm);
  if (o.kind == "sgd" || o.kind == "muon") {
    const Value* nesterov = map.take("nesterov");
    map.read("momentum", o.momentum);
    read_key(source, nesterov, "train.optimizer.nesterov", o.nesterov);
    if (nesterov != nullptr && o.nesterov && o.momentum == 0)
      source.error(*nesterov, "nesterov needs a momentum above 0");
  }
  if (o.kind != "sgd") {
    map.read("beta1", o.beta1);
    map.read("beta2", o.beta2);
    map.read("epsilon", o.epsilon);
  }
  if (o.kind == "adam" || o.kind == "adamw") map.read("accumulate", o.accumulate);
  o.schedule = read_rate_schedule(source, map.take("schedule"));
  map.read("warmup", o.schedule.warmup);
  map.finish();
  return o;
}

SecuritySpec read_security(Source& source,
                           const Value* value,
                           const std::filesystem::path& folder) {
  SecuritySpec spec;
  std::string keys = "keys";
  // Expands `security: plaintext`, short for { mode: plaintext }.
  const Value* mode = value;
  if (value == nullptr || value->kind != Value::Kind::scalar) {
    MapReader map(source, value, "security");
    mode = map.take("mode");
    map.read("keys", keys);
    map.finish();
  }
  choose_key(source, mode, "security.mode", spec.mode);
  spec.keys = (folder / keys).string();
  return spec;
}

std::optional<TargetSpec> read_target(Source& source, const Value& value, const std::string& path) {
  const std::size_t problems = source.diagnostics().size();
  MapReader map(source, &value, path);
  const Value* accuracy = map.take("accuracy");
  const Value* loss = map.take("loss");
  const Value* returned = map.take("return");
  const Value* of = map.take("of");
  const Value* times = map.take("for");
  map.finish();
  if (source.diagnostics().size() > problems) return std::nullopt;
  if ((accuracy != nullptr) + (loss != nullptr) + (returned != nullptr) != 1) {
    source.error(value, "expected one target",
                 "such as `{ accuracy: 0.88 }` or `{ loss: 0.4 }`, for an agent `{ return: 475 }`");
    return std::nullopt;
  }
  TargetSpec target;
  target.figure = accuracy != nullptr ? Figure::accuracy : Figure::loss;
  target.as_return = returned != nullptr;
  const auto figure = accuracy != nullptr ? read_fraction(source, *accuracy)
                                          : read_number(source, loss != nullptr ? *loss : *returned,
                                                        -largest_loss, largest_loss);
  if (figure) target.value = target.as_return ? -*figure : *figure;
  set(of, target.whose, [&](const Value& v) { return read_whose(source, v, target.figure); });
  read_key(source, times, "stop.target.for", target.in_a_row);
  if (source.diagnostics().size() > problems) return std::nullopt;
  return target;
}

}  // namespace gv
