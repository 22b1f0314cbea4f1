#include <limits>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "graph/formats/graph_file.h"
#include "graph/mixing/share_weights.h"
#include "graph/schedules.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "peer/fleet/digest.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/read/sections.h"

namespace gv {
namespace {

class TopologyReader : Readers {
 public:
  TopologyReader(Source& source,
                 const Value& root,
                 std::filesystem::path folder,
                 Fleet& fleet,
                 std::vector<std::string>* notices)
      : Readers(source),
        root_(root),
        folder_(std::move(folder)),
        fleet_(fleet),
        notices_(notices) {}

  void read(const Value* value) {
    if (read_rounds(value)) return;
    MapReader map(source_, value, "topology", true);
    TopologySpec& t = fleet_.topology;
    const Value* kind = map.take("kind");
    if (!read_short_topology(kind)) {
      std::string name(t.family->name);
      set(kind, name, choice(known_names()));
      if (const TopologyFamily* family = find_topology_family(name)) t.family = family;
      t.parameters = GraphParameters(t.family->parameters);
      read_parameters(map, t.parameters);
    }
    set_beside_fleet(t);
    read_weights(map.take("weights"));
    map.finish();
    check_graph(value != nullptr ? *value : root_);
  }

 private:
  static std::vector<std::string> known_names() {
    std::vector<std::string> names;
    for (const TopologyFamily* f : topology_families()) names.emplace_back(f->name);
    for (const ScheduleFamily* f : schedule_families()) names.emplace_back(f->name);
    return names;
  }

  /// Makes the path of a graph file relative to the fleet file's folder.
  void set_beside_fleet(TopologySpec& t) {
    if (t.is_file()) t = file_topology(beside_fleet(t.file()));
  }

  std::string beside_fleet(const std::string& path) const {
    return (folder_ / path).lexically_normal().string();
  }

  /// Reads `base:k=1` or { kind: base, k: 1 }. Returns false if the value names no schedule.
  bool read_rounds(const Value* value) {
    const Value::Entry* entry =
        value != nullptr && value->kind == Value::Kind::map ? value->find("kind") : nullptr;
    const Value* kind = entry != nullptr ? &entry->value : value;
    if (kind == nullptr || kind->kind != Value::Kind::scalar || !is_schedule(kind->text))
      return false;
    try {
      fleet_.schedule = parse_schedule(kind->text);
    } catch (const std::exception& e) {
      source_.error(*kind, e.what());
      return true;
    }
    ScheduleSpec& s = *fleet_.schedule;
    MapReader map(source_, value, "topology", true);
    map.take("kind");
    read_parameters(map, s.parameters);
    if (s.parameters.has("graph")) read_base_graph(map.take("graph"), s);
    if (s.topology.is_file()) {
      TopologySpec graph = s.topology;
      set_beside_fleet(graph);
      s.set_graph(graph);
    }
    if (is_file(s)) s.parameters.set("file", beside_fleet(s.parameters.text("file")));
    if (const Value* weights = map.take("weights"))
      source_.error(
          *weights,
          fmt::format("`{}` has its own weights, a different W in every round", s.family->name),
          "leave `weights` out");
    map.finish();
    check_rounds(*kind);
    return true;
  }

  void read_base_graph(const Value* value, ScheduleSpec& s) {
    if (value == nullptr) return;
    try {
      s.set_graph(parse_topology(s.parameters.text("graph")));
    } catch (const std::exception& e) {
      source_.error(*value, e.what());
    }
  }

  void check_rounds(const Value& at) {
    if (!source_.diagnostics().empty()) return;
    try {
      const ScheduleSpec& s = *fleet_.schedule;
      const std::unique_ptr<MixingSchedule> rounds = make_schedule(s, fleet_.trainers());
      if (const std::string why = disconnection(rounds->topology(to_string(s))); !why.empty())
        source_.error(at, why,
                      is_file(s) ? "the edges of all rounds together must connect all peers"
                                 : "another seed, or more shifts to draw from (m)");
      if (s.topology.is_file())
        fleet_.mixing_digest = digest_of(build(s.topology, fleet_.trainers()));
      if (is_file(s)) {
        fleet_.mixing_digest = digest_of(*rounds);
        check_shares(at, *rounds);
      }
      check_algorithm(source_, root_, fleet_, nullptr);
    } catch (const std::exception& e) {
      source_.error(at, e.what());
    }
  }

  /// Checks that a schedule suits push-sum, which uses its links but not its weights.
  void check_shares(const Value& at, const MixingSchedule& rounds) {
    const AlgorithmRow* row = find_algorithm(fleet_.algorithm, fleet_.order);
    if (row == nullptr || row->promise != Promise::push_sum) return;
    for (std::uint64_t k = 0; k < rounds.period(); ++k) {
      if (shares_evenly(rounds.matrix(k))) continue;
      return source_.error(
          at,
          fmt::format("{} divides what a peer holds evenly among itself and its receivers, and "
                      "W_{} of this file does not: it would average by other weights",
                      row->kind, k),
          "take `d-psgd`, or give each W_ij 1 / (1 + the peers that receive from j)");
    }
  }

  /// Reads kind and parameters in one word, `torus:4x4`, as in `graph report`. Returns false if
  /// there is no colon.
  bool read_short_topology(const Value* kind) {
    const bool word = kind != nullptr && kind->kind == Value::Kind::scalar;
    if (!word || kind->text.find(':') == std::string::npos) return false;
    try {
      fleet_.topology = parse_topology(kind->text);
    } catch (const std::invalid_argument& e) {
      source_.error(*kind, e.what());
    }
    return true;
  }

  /// Sets the parameters that are keys of the map; other keys are refused later.
  void read_parameters(MapReader& map, GraphParameters& values) {
    for (const GraphParameter& row : values.rows()) {
      const Value* value = map.take(std::string(row.name));
      if (value == nullptr) continue;
      if (const std::optional<GraphParameterValue> read = read_parameter(*value, row))
        values.set(row.name, *read);
    }
  }

  std::optional<GraphParameterValue> read_parameter(const Value& value, const GraphParameter& row) {
    const auto wrap = [](const auto& read) {
      return read ? std::optional<GraphParameterValue>(*read) : std::nullopt;
    };
    switch (row.kind) {
      case GraphParameter::Kind::count:
        return wrap(read_count(source_, value, static_cast<std::uint64_t>(row.least),
                               static_cast<std::uint64_t>(row.most)));
      case GraphParameter::Kind::number:
        return wrap(read_fraction(source_, value));
      case GraphParameter::Kind::seed:
        return wrap(read_count(source_, value, 0, std::numeric_limits<std::uint64_t>::max()));
      case GraphParameter::Kind::shape:
        return wrap(read_shape(value));
      default:
        return wrap(read_word(source_, value));
    }
  }

  std::optional<LatticeShape> read_shape(const Value& shape) {
    if (shape.kind != Value::Kind::sequence || shape.items.size() != 2) {
      source_.error(shape, "expected two numbers, rows and columns, such as [4, 4]");
      return std::nullopt;
    }
    const auto rows = read_count(source_, shape.items[0], 1, most_peers);
    const auto columns = read_count(source_, shape.items[1], 1, most_peers);
    if (!rows || !columns) return std::nullopt;
    return LatticeShape{static_cast<PeerId>(*rows), static_cast<PeerId>(*columns)};
  }

  void read_weights(const Value* value) {
    if (value == nullptr) return;
    set(value, fleet_.weights, word());
    if (fleet_.weights.starts_with("file:")) {
      fleet_.weights = "file:" + beside_fleet(fleet_.weights.substr(5));
    } else {
      std::vector<std::string> names = weight_names();
      names.emplace_back(push_sum_weights);
      names.emplace_back(share_weights);
      names.emplace_back("file:PATH");
      read_choice(source_, *value, names);
    }
  }

  /// Checks that the graph is possible and connected and has a doubly stochastic W, if the file has
  /// no other errors.
  void check_graph(const Value& at) {
    if (!source_.diagnostics().empty()) return;
    bool directed = false;
    try {
      const Topology t = build(fleet_.topology, fleet_.trainers());
      directed = t.directed;
      if (const std::string why = disconnection(t); !why.empty())
        source_.error(at, why, "another seed, a higher degree or probability, or more edges");
      if (fleet_.weights == share_weights)
        share_rows(t, std::vector<double>(t.size(), 1));  // throws for directed graphs
      if (fleet_.weights == push_sum_weights || fleet_.weights == share_weights) {
        fleet_.mixing_digest = digest_of(t);
        check_algorithm(source_, root_, fleet_, nullptr);
        return;
      }
      const MixingMatrix w = mixing_matrix(fleet_.weights, t);
      fleet_.mixing_digest = digest_of(w);
      if (fleet_.weights.starts_with("file:") || fleet_.weights == "edge-list")
        check_weighted_edges(at, t, w);
      warn_of_rates(w);
      check_algorithm(source_, root_, fleet_, &w);
    } catch (const std::exception& e) {
      source_.error(
          at, e.what(),
          directed ? "`algorithm: sgp` with `weights: push-sum` takes any directed graph" : "");
    }
  }

  /// Refuses zero weights that divide a connected graph into separate fleets.
  void check_weighted_edges(const Value& at, Topology t, const MixingMatrix& w) {
    for (PeerId i = 0; i < t.size(); ++i)
      std::erase_if(t.neighbors[i], [&](PeerId j) {
        return w.row(i).weight_of(j) == 0 && w.row(j).weight_of(i) == 0;
      });
    if (const std::string why = disconnection(t); !why.empty())
      source_.error(at, "without its edges of weight 0, " + why,
                    "give at least one edge between any two parts a weight");
  }

  /// Weights that minimize slem lower lambda_n. With the gradient at the model before mixing, the
  /// rate must stay below (1 + lambda_n) / L.
  void warn_of_rates(const MixingMatrix& w) {
    const WeightRule* rule = find_weight_rule(fleet_.weights);
    if (rule == nullptr || !rule->lowers_lambda_n) return;
    if (notices_ == nullptr || fleet_.order != "lian") return;
    notices_->push_back(
        fmt::format("weights {} with order lian: stable only for learning rates below {:.3g} / L "
                    "(L: the loss's curvature); order atc has no such limit",
                    rule->name, 1 + spectrum(w).lambda_n.value_or(0)));
  }

  const Value& root_;
  std::filesystem::path folder_;
  Fleet& fleet_;
  std::vector<std::string>* notices_;
};

}  // namespace

void read_topology(Source& source,
                   const Value& root,
                   const Value* value,
                   const std::filesystem::path& folder,
                   Fleet& fleet,
                   std::vector<std::string>* notices) {
  TopologyReader(source, root, folder, fleet, notices).read(value);
}

}  // namespace gv
