#include "peer/fleet/topology_reader.h"

#include <limits>

#include <fmt/format.h>

#include "graph/mixing/mixing.h"
#include "graph/schedule/schedule.h"
#include "graph/spectrum/spectrum.h"
#include "peer/fleet/algorithm_reader.h"
#include "peer/fleet/digest.h"
#include "peer/fleet/readers.h"

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
      std::vector<std::string> kinds;
      for (const Family& f : families()) kinds.emplace_back(f.kind);
      for (const Family& f : schedule_kinds()) kinds.emplace_back(f.kind);  // see read_rounds
      set(kind, t.kind, choice(kinds));
      read_topology_parameters(map);
    }
    if (t.kind == "file") t.file = (folder_ / t.file).lexically_normal().string();
    read_weights(map.take("weights"));
    map.finish();
    check_graph(value != nullptr ? *value : root_);
  }

 private:
  /// `base:k=1`, or { kind: base, k: 1 }. False: the value names no schedule.
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
    const bool equi = s.kind == "od-equi-dyn" || s.kind == "ou-equi-dyn";
    if (s.kind == "base") set(map.take("k"), s.k, count(1, most_peers));
    if (equi) {
      set(map.take("m"), s.shifts, count(1, most_peers));
      set(map.take("eta"), s.eta, number(0, 1));
    }
    if (s.kind == "matcha") {
      set(map.take("budget"), s.budget, [this](const Value& v) {
        return read_fraction(source_, v);
      });
      if (const Value* graph = map.take("graph")) read_base_graph(*graph, s.topology);
      if (s.topology.kind == "file")
        s.topology.file = (folder_ / s.topology.file).lexically_normal().string();
    }
    if (equi || s.kind == "matcha" || s.kind == "random-matching")
      set(map.take("seed"), s.seed, count(0, std::numeric_limits<std::uint64_t>::max()));
    if (const Value* weights = map.take("weights"))
      source_.error(*weights,
                    fmt::format("`{}` has weights of its own, another W for every round", s.kind),
                    "leave `weights` out");
    map.finish();
    check_rounds(*kind);
    return true;
  }

  void read_base_graph(const Value& value, TopologySpec& topology) {
    const std::optional<std::string> text = read_word(source_, value);
    if (!text) return;
    try {
      topology = parse_topology(*text);
    } catch (const std::exception& e) {
      source_.error(value, e.what());
    }
  }

  void check_rounds(const Value& at) {
    if (!source_.diagnostics().empty()) return;
    try {
      const ScheduleSpec& s = *fleet_.schedule;
      const Topology t = make_schedule(s, fleet_.size())->topology(to_string(s));
      if (const std::string why = disconnection(t); !why.empty())
        source_.error(at, why, "another seed, or more shifts to draw from (m)");
      if (s.topology.kind == "file")
        fleet_.mixing_digest = digest_of(build(s.topology, fleet_.size()));
      check_algorithm(source_, root_, fleet_, nullptr);
    } catch (const std::exception& e) {
      source_.error(at, e.what());
    }
  }

  /// `torus:4x4`, kind and parameters in one word as in `graph report`; false when there is no
  /// colon.
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

  void read_topology_parameters(MapReader& map) {
    TopologySpec& t = fleet_.topology;
    if (has_shape(t)) read_shape(map.take("shape"));
    if (t.kind == "random-regular") set(map.take("degree"), t.degree, count(1, most_peers));
    if (t.kind == "erdos-renyi")
      set(map.take("p"), t.p, [this](const Value& v) { return read_fraction(source_, v); });
    if (t.kind == "small-world") {
      set(map.take("k"), t.k, count(2, most_peers));
      set(map.take("beta"), t.beta, [this](const Value& v) { return read_fraction(source_, v); });
    }
    if (t.kind == "ring-lattice") set(map.take("k"), t.k, count(2, most_peers));
    if (is_equi_static(t)) set(map.take("m"), t.shifts, count(1, most_peers));
    if (t.kind == "random-regular" || t.kind == "erdos-renyi" || t.kind == "small-world" ||
        is_equi_static(t)) {
      set(map.take("seed"), t.seed, count(0, std::numeric_limits<std::uint64_t>::max()));
    }
    if (t.kind == "file") set(map.take("file"), t.file, word());
  }

  void read_shape(const Value* shape) {
    if (shape == nullptr) return;
    if (shape->kind != Value::Kind::sequence || shape->items.size() != 2)
      return source_.error(*shape, "expected two numbers, rows and columns, such as [4, 4]");
    for (const Value& side : shape->items)
      fleet_.topology.shape.push_back(
          static_cast<PeerId>(read_count(source_, side, 1, most_peers).value_or(1)));
  }

  void read_weights(const Value* value) {
    if (value == nullptr) return;
    set(value, fleet_.weights, word());
    if (fleet_.weights.starts_with("file:")) {
      fleet_.weights = "file:" + (folder_ / fleet_.weights.substr(5)).lexically_normal().string();
    } else {
      std::vector<std::string> names = weight_names();
      names.emplace_back("file:PATH");
      read_choice(source_, *value, names);
    }
  }

  /// The graph must be possible, connected, and have a doubly stochastic W; asked only when the
  /// file is fine so far.
  void check_graph(const Value& at) {
    if (!source_.diagnostics().empty()) return;
    try {
      const Topology t = build(fleet_.topology, fleet_.size());
      if (const std::string why = disconnection(t); !why.empty())
        source_.error(at, why, "another seed, a higher degree or probability, or more edges");
      const MixingMatrix w = mixing_matrix(fleet_.weights, t);
      fleet_.mixing_digest = digest_of(w);
      warn_of_rates(w);
      check_algorithm(source_, root_, fleet_, &w);
    } catch (const std::exception& e) {
      source_.error(at, e.what());
    }
  }

  /// Weights that minimize slem push lambda_n down; with the gradient at the model before mixing
  /// the rate must stay below (1 + lambda_n) / L.
  void warn_of_rates(const MixingMatrix& w) {
    const std::string& rule = fleet_.weights;
    const bool optimal = rule == "best-constant" || rule == "fdla" || rule == "fmmc";
    if (notices_ == nullptr || !optimal || fleet_.order != "lian") return;
    notices_->push_back(
        fmt::format("weights {} with order lian: stable only for learning rates below {:.3g} / L "
                    "(L: the loss's curvature); order atc has no such limit",
                    rule,
                    1 + spectrum(w).lambda_n.value_or(0)));
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
