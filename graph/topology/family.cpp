#include "graph/topology/family.h"

#include <stdexcept>
#include <utility>

namespace gv {
namespace {

using std::numbers::pi;
constexpr GraphParameter shape_only[] = {shape_parameter};

/// Rows of `columns` peers; `wrapped` joins the borders: a torus.
Topology lattice(const std::string& name, LatticeShape shape, bool wrapped) {
  const auto [rows, columns] = shape;
  std::vector<Edge> edges;
  for (PeerId r = 0; r < rows; ++r) {
    for (PeerId c = 0; c < columns; ++c) {
      const PeerId here = r * columns + c;
      if (wrapped || c + 1 < columns) edges.emplace_back(here, r * columns + (c + 1) % columns);
      if (wrapped || r + 1 < rows) edges.emplace_back(here, (r + 1) % rows * columns + c);
    }
  }
  return make_topology(name, rows * columns, edges);
}

Topology build_grid(const GraphParameters& p, PeerId n) {
  return lattice("grid", shape_for("grid", p.shape(), n), false);
}

Topology build_torus(const GraphParameters& p, PeerId n) {
  return lattice("torus", shape_for("torus", p.shape(), n), true);
}

/// On fewer than 3 rows or columns two neighbours are one peer, and the formula does not hold.
bool has_formula(const LatticeShape& s) {
  return s.rows >= 3 && s.columns >= 3;
}

/// Sums of the eigenvalues of two rings: Davis, "Circulant matrices", Wiley 1979.
std::optional<ExtremeEigenvalues> torus_extremes(const GraphParameters& p, PeerId) {
  const auto [rows, columns] = p.shape();
  if (!has_formula(p.shape())) return std::nullopt;
  const double most = std::max(rows, columns);
  const double lowest =
      1 + 2 * std::cos(2 * pi * (rows / 2) / rows) + 2 * std::cos(2 * pi * (columns / 2) / columns);
  const double sine = std::sin(pi / most);
  return ExtremeEigenvalues{4.0 / 5 * (sine * sine), lowest / 5, {}};
}

/// cos(2 pi a / r) for a = 0 .. r / 2, and how many a there are of each in 0 .. r - 1.
std::vector<std::pair<double, double>> ring_cosines(PeerId r) {
  std::vector<std::pair<double, double>> cosines{{1, 1}};
  for (PeerId a = 1; a <= r / 2; ++a) {
    const std::complex<double> root = std::polar(1.0, 2 * pi * static_cast<double>(a) / r);
    cosines.emplace_back(root.real(), 2 * a == r ? 1 : 2);
  }
  return cosines;
}

std::vector<Eigenvalue> torus_eigenvalues(const GraphParameters& p, PeerId) {
  const auto [rows, columns] = p.shape();
  std::vector<Eigenvalue> values;
  for (const auto& [x, x_count] : ring_cosines(rows)) {
    for (const auto& [y, y_count] : ring_cosines(columns))
      values.push_back({(1 + 2 * x + 2 * y) / 5, x_count * y_count});
  }
  values.erase(values.begin());
  return values;
}

}  // namespace

SearchGroups search_alone(const SearchScope&) {
  return {{""}};
}

SearchGroups search_shapes(const SearchScope& scope) {
  SearchGroups groups;
  for (PeerId rows = 3; rows * rows <= scope.peers; ++rows) {
    if (scope.peers % rows == 0)
      groups.push_back({std::to_string(rows) + "x" + std::to_string(scope.peers / rows)});
  }
  return groups;
}

std::vector<std::string> with_seeds(const std::string& parameters, const SearchScope& scope) {
  std::vector<std::string> group;
  for (int seed = 1; seed <= scope.seeds; ++seed)
    group.push_back(parameters + ",seed=" + std::to_string(seed));
  return group;
}

bool TopologySpec::is_file() const {
  return parameters.has("file");
}

const std::string& TopologySpec::file() const {
  return parameters.text("file");
}

std::string to_string(const TopologySpec& spec) {
  return to_string(spec.family->name, spec.parameters);
}

Topology build(const TopologySpec& spec, PeerId n) {
  if (n == 0) throw std::invalid_argument("a fleet needs at least one peer");
  Topology t = spec.family->build(spec.parameters, n);
  t.name = to_string(spec.family->name, with_shape(*spec.family, spec.parameters, n));
  return t;
}

LatticeShape shape_for(std::string_view family, const LatticeShape& shape, PeerId n) {
  if (shape.open()) {
    PeerId rows = 1;
    for (PeerId r = 1; std::uint64_t{r} * r <= n; ++r) {
      if (n % r == 0) rows = r;
    }
    return {rows, n / rows};
  }
  const std::uint64_t product = std::uint64_t{shape.rows} * shape.columns;
  if (product != n) {
    throw std::invalid_argument(std::string(family) + " " + std::to_string(shape.rows) + "x" +
                                std::to_string(shape.columns) + " has " + std::to_string(product) +
                                " peers, the fleet has " + std::to_string(n));
  }
  return shape;
}

GraphParameters with_shape(const TopologyFamily& family, GraphParameters parameters, PeerId n) {
  if (parameters.has("shape"))
    parameters.set("shape", shape_for(family.name, parameters.shape(), n));
  return parameters;
}

extern constinit const TopologyFamily grid_family{
    .name = "grid",
    .summary = "a rectangle of R rows and C columns",
    .parameters = shape_only,
    .example = "4x4",
    .build = build_grid,
    .drawing = Drawing::lattice,
};

extern constinit const TopologyFamily torus_family{
    .name = "torus",
    .summary = "a grid whose borders are joined",
    .parameters = shape_only,
    .example = "4x4",
    .build = build_torus,
    .drawing = Drawing::lattice,
    .extremes = torus_extremes,
    .eigenvalues = torus_eigenvalues,
    .searched = search_shapes,
};

}  // namespace gv
