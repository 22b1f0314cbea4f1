#include "peer/sim/drawn/fleet_draw.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/mixing/share_weights.h"
#include "graph/schedules.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "optim/rng.h"

namespace gv {
namespace {

/// Groups keys by the first word of their paths, in order of appearance; the rest of a path is the
/// key within the group.
std::vector<std::pair<std::string, FlatKeys>> sections(const FlatKeys& keys) {
  std::vector<std::pair<std::string, FlatKeys>> sections;
  for (const auto& [path, value] : keys) {
    const std::size_t dot = path.find('.');
    const std::string name = path.substr(0, dot);
    auto at = std::ranges::find(sections, name, [](const auto& each) { return each.first; });
    if (at == sections.end()) at = sections.insert(at, {name, {}});
    at->second.emplace_back(dot == std::string::npos ? "" : path.substr(dot + 1), value);
  }
  return sections;
}

/// Writes the keys on one line.
std::string flow(const FlatKeys& keys) {
  const bool word = keys.size() == 1 && (keys[0].first.empty() || keys[0].first == "kind");
  if (word) return keys[0].second;
  std::string text;
  for (const auto& [name, below] : sections(keys))
    text += (text.empty() ? "{ " : ", ") + name + ": " + flow(below);
  return text + " }";
}

bool is_at(std::string_view path, std::string_view section) {
  return path == section ||
         (path.starts_with(section) && path.size() > section.size() && path[section.size()] == '.');
}

auto find_key(auto& keys, std::string_view path) {
  return std::ranges::find(keys, path, [](const auto& each) { return each.first; });
}

using Words = std::initializer_list<const char*>;

/// Returns the families that need no file.
template <class Families>
auto drawable(const Families& all) {
  const auto is_path = [](const GraphParameter& p) { return p.kind == GraphParameter::Kind::path; };
  std::vector<typename Families::value_type> rest;
  for (const auto* family : all)
    if (std::ranges::none_of(family->parameters, is_path)) rest.push_back(family);
  return rest;
}

class FleetDraw {
 public:
  /// Uses chains in one of six fleets if the method can run on parts of a model.
  FleetDraw(Rng rng, const AlgorithmRow& row) : rng_(rng), row_(row) {
    Rng apart = rng.derive("chains");
    if (row.by_coordinate && apart.below(6) == 0) stages_ = static_cast<PeerId>(2 + apart.below(3));
    draw_copies();
    draw_members();
  }

  DrawnFleet draw(std::uint64_t number) {
    set("version", "1");
    set("name", fmt::format("fleet-{}", number));
    set("seed", std::to_string(rng_.below(1'000'000)));
    draw_peers();
    draw_data();
    draw_training();
    draw_method();
    if (row_.mixes) draw_graph();
    draw_network();
    draw_run();
    draw_faults();
    if (stages_ > 1) draw_chains();
    draw_loneliness();
    return std::move(drawn_);
  }

 private:
  void set(std::string_view path, std::string value) {
    drawn_.keys.emplace_back(path, std::move(value));
  }
  bool once_in(std::uint64_t n) { return rng_.below(n) == 0; }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + rng_.below(most - least + 1);
  }
  std::string one_of(Words words) { return words.begin()[rng_.below(words.size())]; }
  template <class Range>
  auto& any(const Range& all) {
    return all[rng_.below(std::size(all))];
  }
  static std::string number(double value) { return fmt::format("{:.3g}", value); }

  void draw_peers() {
    if (stages_ > 1) {
      n_ = static_cast<PeerId>(between(1, 4));
      if (copies_.empty()) return set("peers", std::to_string(n_ * stages_ * tensor_));
      n_ = 1;
      return set("peers", std::to_string(std::accumulate(copies_.begin(), copies_.end(), 0U)));
    }
    n_ = static_cast<PeerId>(between(3, 9));
    const bool hosts = once_in(3);
    if (!hosts && !once_in(4)) return set("peers", std::to_string(n_));
    if (hosts) {
      set("hosts.a.address", "10.0.0.1");
      set("hosts.b.address", "10.0.0.2");
    }
    const PeerId first = static_cast<PeerId>(between(1, n_ - 1));
    std::vector<std::string> groups;
    for (const auto& [host, count] : {std::pair{"a", first}, std::pair{"b", n_ - first}})
      groups.push_back(fmt::format("{{ count: {}{}{} }}", count,
                                   hosts ? fmt::format(", host: {}", host) : "",
                                   once_in(2) ? ", speed: " + one_of({"0.25", "0.5", "2"}) : ""));
    set("peers", fmt::format("[{}]", fmt::join(groups, ", ")));
  }

  void draw_data() {
    const std::string kind =
        stages_ > 1 ? "blobs" : one_of({"quadratic", "quadratic", "blobs", "linear", "sparse"});
    set("data.kind", kind);
    if (kind == "quadratic") {
      set("data.dimension", std::to_string(between(1, 6)));
      set("data.noise", one_of({"0", "1", "10"}));
      set("data.spread", one_of({"0", "1", "3"}));
      return;
    }
    set("data.train", std::to_string(n_ * between(20, 60)));
    set("data.test", "50");
    set("data.features", std::to_string(kind == "sparse" ? between(20, 50) : between(2, 8)));
    if (kind == "sparse") set("data.nonzeros", "5");
    if (kind == "blobs") {
      set("data.classes", "3");
      set("model.kind", stages_ > 1 ? "mlp" : one_of({"softmax", "mlp"}));
      if (drawn_.keys.back().second == "mlp")
        set("model.hidden", tensor_ > 1 ? "[6, 4, 8, 4]" : stages_ > 1 ? "[6, 5, 7, 4]" : "[6]");
      draw_partition();
    }
    if (stages_ == 1 && once_in(10)) set("data.servers", std::to_string(between(1, 2)));
  }

  void draw_partition() {
    const std::string kind = one_of({"iid", "by-label", "dirichlet"});
    if (kind == "iid") return;
    set("data.partition.kind", kind);
    if (kind == "by-label")
      set("data.partition.classes_per_peer", std::to_string(between(1, 2)));
    else
      set("data.partition.alpha", one_of({"0.3", "1"}));
  }

  void draw_training() {
    if (once_in(6)) {
      const bool decoupled = rng_.derive("decoupled").below(2) == 0;
      set("train.optimizer.kind", decoupled ? "adamw" : "adam");
      set("train.optimizer.lr", one_of({"0.001", "0.01"}));
      if (Rng apart = rng_.derive("accumulate"); apart.below(2) == 0)
        set("train.optimizer.accumulate", std::to_string(2 + apart.below(4)));
    } else {
      set("train.optimizer.kind", "sgd");
      set("train.optimizer.lr", one_of({"0.01", "0.03", "0.1"}));
      if (once_in(4)) set("train.optimizer.momentum", one_of({"0.3", "0.5"}));
    }
    draw_schedule();
    const std::uint64_t batch = between(1, 8);
    set("train.batch", std::to_string(copies_.empty() ? batch : std::max<std::uint64_t>(3, batch)));
    if (once_in(2)) set("train.local_steps", std::to_string(between(2, 5)));
  }

  /// Uses its own generator, so that the other draws of earlier fleet numbers stay the same.
  void draw_schedule() {
    Rng apart = rng_.derive("schedule");
    if (apart.below(4) != 0) return;
    set("train.optimizer.schedule.kind", apart.below(2) == 0 ? "linear" : "cosine");
    if (apart.below(2) == 0) set("train.optimizer.warmup", std::to_string(1 + apart.below(40)));
  }

  void draw_method() {
    set("algorithm.kind", std::string(row_.kind));
    if (!row_.order.empty()) set("algorithm.order", std::string(row_.order));
    for (const Option& option : row_.options)
      if (once_in(2)) set(fmt::format("algorithm.{}", option.name), text_of(option, of(option)));
    if (row_.codecs != Codecs::none && once_in(2)) draw_codec();
    if (row_.promise == Promise::mean && stages_ == 1 && once_in(6))
      set("robust.clip", one_of({"auto", "1"}));
  }

  double of(const Option& option) {
    if (!option.words.empty()) return static_cast<double>(rng_.below(option.words.size()));
    if (option.whole) {
      const double most = std::min(option.most, std::max(4.0, 2 * option.usual));
      return option.least +
             static_cast<double>(rng_.below(static_cast<std::uint64_t>(most - option.least) + 1));
    }
    const double most = std::min(option.most, option.usual > 0 ? 1.5 * option.usual : 0.8);
    const double value = std::max(option.least, option.usual / 2) +
                         rng_.uniform() * (most - std::max(option.least, option.usual / 2));
    const double rounded = std::round(1000 * value) / 1000;
    return rounded < option.least ? value : rounded;
  }

  void draw_codec() {
    std::vector<std::string> words;
    for (const std::string& word : codec_words())
      if (row_.codecs == Codecs::all || Codec{.kind = codec_kind(word)}.dense())
        words.push_back(word);
    const std::string word = any(words);
    set("algorithm.codec.kind", word);
    if (Codec{.kind = codec_kind(word)}.keeps_some())
      set("algorithm.codec.fraction", one_of({"0.1", "0.3", "0.5"}));
  }

  void draw_graph() {
    if (once_in(3)) {
      const ScheduleFamily& family = *any(drawable(schedule_families()));
      set("topology.kind", std::string(family.name));
      for (const GraphParameter& parameter : family.parameters) draw_parameter(parameter);
      return;
    }
    const TopologyFamily& family = *any(drawable(topology_families()));
    set("topology.kind", std::string(family.name));
    for (const GraphParameter& parameter : family.parameters) draw_parameter(parameter);
    if (row_.promise == Promise::push_sum) {
      set("topology.weights", "push-sum");
    } else if (once_in(2)) {
      const std::vector<std::string> names = weight_names();
      set("topology.weights", once_in(2) ? "lazy" : any(names));
    } else if (row_.takes_shares && rng_.derive("shares").below(2) == 0) {
      set("topology.weights", std::string(share_weights));
    }
  }

  void draw_parameter(const GraphParameter& parameter) {
    const std::string path = fmt::format("topology.{}", parameter.name);
    switch (parameter.kind) {
      case GraphParameter::Kind::count: {
        const auto least = static_cast<std::uint64_t>(parameter.least);
        return set(path, std::to_string(between(least, std::max<std::uint64_t>(least, n_ - 1))));
      }
      case GraphParameter::Kind::number:
        return set(path, one_of({"0.2", "0.4", "0.6", "0.8"}));
      case GraphParameter::Kind::seed:
        return set(path, std::to_string(between(1, 20)));
      case GraphParameter::Kind::shape:
        if (once_in(2)) set(path, shape());
        return;
      case GraphParameter::Kind::graph:
        return set(path, one_of({"complete", "ring", "star", "path"}));
      case GraphParameter::Kind::path:
        return;
    }
  }

  std::string shape() {
    std::vector<PeerId> rows;
    for (PeerId k = 1; k <= n_; ++k)
      if (n_ % k == 0) rows.push_back(k);
    const PeerId chosen = any(rows);
    return fmt::format("[{}, {}]", chosen, n_ / chosen);
  }

  void draw_network() {
    const double latency_ms = 0.1 * std::pow(100, rng_.uniform());
    set("network.latency", number(latency_ms) + " ms");
    if (once_in(3)) set("network.jitter", number(latency_ms * rng_.uniform()) + " ms");
    if (!once_in(5)) set("network.bandwidth", one_of({"10 Mbit", "100 Mbit", "1 Gbit", "10 Gbit"}));
    if (once_in(4)) set("network.shape", "per-link");
    if (once_in(3)) set("network.local", "tcp");
  }

  void draw_run() {
    set("simulate.flops",
        one_of({"0.1 MFLOP/s", "1 MFLOP/s", "10 MFLOP/s", "50 MFLOP/s", "1 GFLOP/s"}));
    set("stop.rounds", one_of({"30", "50", "100", "200", "300"}));
    if (once_in(4))
      set("evaluate.every", stages_ > 1 ? "5 rounds" : one_of({"5 rounds", "20 rounds", "20 ms"}));
    if (once_in(2)) set("checkpoint.every", fmt::format("{} rounds", between(1, 20)));
    if (stages_ == 1 && once_in(2)) set("launch.restart", "on-failure");
  }

  void draw_faults() {
    set("faults.deadline", one_of({"0 s", "0 s", "5 ms", "20 ms", "50 ms", "300 ms"}));
    if (once_in(4)) set("faults.ledger", "true");
    drawn_.until_ms = std::array{100, 500, 500, 2000}.at(rng_.below(4));
  }

  /// Uses its own generator, too: one in four fleets has a graph on which an accident can isolate a
  /// peer, and one in five runs long enough for accidents to be detected and to end.
  void draw_loneliness() {
    Rng apart = rng_.derive("loneliness");
    const std::string graph = std::array{"path", "ring", "star"}.at(apart.below(3));
    const bool free = row_.mixes && row_.promise != Promise::push_sum;
    if (apart.below(4) == 0 && free) {
      erase_keys(drawn_.keys, "topology");
      set("topology.kind", graph);
    }
    if (apart.below(5) == 0) set_key(drawn_.keys, "stop.rounds", "500");
  }

  /// Uses its own generator, too: stages have copies in half of the chains of `all-reduce`; with
  /// doubling the number of copies is a power of two.
  void draw_copies() {
    Rng apart = rng_.derive("copies");
    if (stages_ == 1 || row_.kind != "all-reduce" || apart.below(2) == 0) return;
    for (PeerId s = 0; s < stages_; ++s)
      copies_.push_back(static_cast<PeerId>(1 + apart.below(row_.order == "doubling" ? 2 : 3)));
  }

  /// Lists the modules at which stages begin; the last stage has the last layer and the one before.
  std::string first_layers() const {
    std::vector<std::string> names;
    for (PeerId s = 1; s <= stages_; ++s) names.push_back(fmt::format("fc{}", s));
    return fmt::format("[{}]", fmt::join(names, ", "));
  }

  /// Uses its own generator, too: stages have two members in a quarter of the other chains.
  void draw_members() {
    Rng apart = rng_.derive("tensor");
    if (stages_ > 1 && copies_.empty() && apart.below(4) == 0) tensor_ = 2;
  }

  void draw_chains() {
    set("parallel.stages", tensor_ == 1 ? std::to_string(stages_) : first_layers());
    const auto batch = std::ranges::find(
        drawn_.keys, "train.batch", [](const auto& key) { return std::string_view(key.first); });
    std::vector<std::uint64_t> divisors;
    const std::uint64_t rows = std::stoull(batch->second);
    for (std::uint64_t d = 1; d <= rows; ++d)
      if (rows % d == 0) divisors.push_back(d);
    const std::string microbatches = std::to_string(any(divisors));
    const std::string ahead = one_of({"1", "2", "all"});
    if (once_in(3)) set("parallel.recompute", "true");
    if (tensor_ > 1) set("parallel.tensor", std::to_string(tensor_));
    if (copies_.empty() && tensor_ == 1 && draw_stream()) return;
    set("parallel.microbatches", copies_.empty() ? microbatches : std::to_string(rows));
    set("parallel.ahead", ahead);
    if (!copies_.empty()) set("parallel.copies", fmt::format("[{}]", fmt::join(copies_, ", ")));
  }

  /// Uses its own generator, too: minibatches overlap in half of the chains without local steps.
  /// Returns whether they do.
  bool draw_stream() {
    Rng apart = rng_.derive("stream");
    const auto takes_steps = [](const auto& key) {
      return std::string_view(key.first) == "train.local_steps";
    };
    if (std::ranges::any_of(drawn_.keys, takes_steps) || apart.below(2) == 0) return false;
    set("parallel.schedule", "pipedream");
    if (apart.below(2) == 0) set("parallel.vertical_sync", "true");
    return true;
  }

  Rng rng_;
  const AlgorithmRow& row_;
  PeerId stages_ = 1;
  PeerId tensor_ = 1;             ///< members per stage
  std::vector<PeerId> copies_{};  ///< copies per stage; none: one each
  PeerId n_ = 0;
  DrawnFleet drawn_;
};

constexpr std::uint64_t most_attempts = 5000;

/// Keys that may be refused because of each other, although each is valid by itself.
const std::set<std::string, std::less<>> refusable{"algorithm", "topology", "robust",
                                                   "data",      "train",    "peers"};

/// Returns the top-level key of a diagnostic at "fleet:LINE:COLUMN" or "fleet: KEY"; fleet_text()
/// writes each on its own line.
std::string refused_key(const Diagnostic& diagnostic, const std::string& text) {
  const std::size_t colon = diagnostic.where.find(':');
  if (colon == std::string::npos) return diagnostic.where;
  const std::string place = diagnostic.where.substr(colon + 1);
  if (place.starts_with(' ')) return place.substr(1, place.find('.') - 1);
  std::size_t line = 0;
  std::from_chars(place.data(), place.data() + place.size(), line);
  std::size_t begin = 0;
  for (; line > 1; --line) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find(':', begin) - begin);
}

}  // namespace

std::string fleet_text(const FlatKeys& keys) {
  std::string text;
  for (const auto& [name, below] : sections(keys)) text += name + ": " + flow(below) + "\n";
  return text;
}

std::string value_of(const FlatKeys& keys, std::string_view path) {
  const auto at = find_key(keys, path);
  return at == keys.end() ? "" : at->second;
}

void set_key(FlatKeys& keys, std::string_view path, std::string value) {
  const auto at = find_key(keys, path);
  if (at != keys.end())
    at->second = std::move(value);
  else
    keys.emplace_back(path, std::move(value));
}

void erase_keys(FlatKeys& keys, std::string_view path) {
  std::erase_if(keys, [path](const auto& each) { return is_at(each.first, path); });
}

DrawnFleet draw(std::uint64_t number,
                std::uint64_t attempt,
                std::span<const AlgorithmRow* const> rows) {
  const Rng rng = Rng(number).derive("fleet");
  // The row is drawn before the attempts, so that refusals do not make it rarer.
  const AlgorithmRow& row = *rows[Rng(rng).below(rows.size())];
  return FleetDraw(rng.derive("keys").derive(attempt), row).draw(number);
}

std::string name_of_row(const AlgorithmRow& row) {
  return row.order.empty() ? std::string(row.kind) : fmt::format("{}:{}", row.kind, row.order);
}

std::vector<const AlgorithmRow*> rows_named(const std::string& name) {
  std::vector<const AlgorithmRow*> rows;
  std::vector<std::string> known;
  for (const AlgorithmRow* row : algorithms()) {
    if (name == row->kind || name == name_of_row(*row)) rows.push_back(row);
    known.push_back(name_of_row(*row));
  }
  if (rows.empty())
    throw std::invalid_argument(
        fmt::format("`{}` is no method\nhelp:  one of {}", name, fmt::join(known, ", ")));
  return rows;
}

// Checks and reading of drawn fleets.

bool stays_small(const Assembly& fleet) {
  constexpr double most = 1e3;
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  simulate(fleet, observer, options);
  for (const auto& [peer, report] : observer.finals())
    if (report.model)
      for (const float x : report.model->floats())
        if (!(std::abs(x) < most)) return false;
  return true;
}

std::unique_ptr<Assembly> read_drawn(const std::string& text, Refusals& refusals) {
  try {
    return std::make_unique<Assembly>(read_fleet_text(text));
  } catch (const FleetError& refused) {
    const std::string key = refused_key(refused.diagnostics().front(), text);
    if (!refusable.contains(key))
      throw std::logic_error(
          fmt::format("a drawn fleet file is refused:\n{}\n{}", refused.what(), text));
    ++refusals[key];
    return nullptr;
  }
}

ReadyFleet draw_ready(std::uint64_t number,
                      std::span<const AlgorithmRow* const> rows,
                      Refusals& refusals) {
  for (std::uint64_t attempt = 0; attempt < most_attempts; ++attempt) {
    DrawnFleet drawn = draw(number, attempt, rows);
    std::unique_ptr<Assembly> fleet = read_drawn(fleet_text(drawn.keys), refusals);
    if (!fleet) continue;
    if (!swarm_objection(*fleet).empty())
      ++refusals["(the swarm)"];
    else if (!stays_small(*fleet))
      ++refusals["(it diverges)"];
    else
      return {std::move(drawn), std::move(fleet)};
  }
  throw std::logic_error(fmt::format("fleet {}: nothing that was drawn can run", number));
}

}  // namespace gv
