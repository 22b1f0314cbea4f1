#include "graph/topology/family.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "graph/formats/format.h"
#include "graph/schedule/equi_topo.h"
#include "graph/topology/random_graph.h"
#include "graph/topology/spec_text.h"

namespace gv {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(what);
}

Topology ring(PeerId n) {
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) edges.emplace_back(i, (i + 1) % n);
  return make_topology("ring", n, edges);
}

Topology path(PeerId n) {
  std::vector<Edge> edges;
  for (PeerId i = 1; i < n; ++i) edges.emplace_back(i - 1, i);
  return make_topology("path", n, edges);
}

Topology star(PeerId n) {
  std::vector<Edge> edges;
  for (PeerId i = 1; i < n; ++i) edges.emplace_back(0, i);
  return make_topology("star", n, edges);
}

Topology complete(PeerId n) {
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId j = i + 1; j < n; ++j) edges.emplace_back(i, j);
  }
  return make_topology("complete", n, edges);
}

/// k / 2 neighbours on each side.
Topology ring_lattice(PeerId n, PeerId k) {
  if (k % 2 != 0 || k == 0) refuse("ring-lattice: k must be even, not " + std::to_string(k));
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId hop = 1; hop <= std::min(k / 2, n / 2); ++hop) edges.emplace_back(i, (i + hop) % n);
  }
  return make_topology("ring-lattice", n, edges);
}

Topology binary_tree(PeerId n) {
  std::vector<Edge> edges;
  for (PeerId i = 1; i < n; ++i) edges.emplace_back((i - 1) / 2, i);
  return make_topology("binary-tree", n, edges);
}

/// A torus with its diagonals: the strong product of two rings, 8 neighbours.
Topology king_torus(std::vector<PeerId> shape) {
  const PeerId rows = shape[0];
  const PeerId columns = shape[1];
  std::vector<Edge> edges;
  for (PeerId r = 0; r < rows; ++r) {
    for (PeerId c = 0; c < columns; ++c) {
      const PeerId here = r * columns + c;
      const PeerId below = (r + 1) % rows * columns;
      edges.emplace_back(here, r * columns + (c + 1) % columns);
      for (const PeerId next : {c, (c + 1) % columns, (c + columns - 1) % columns})
        edges.emplace_back(here, below + next);
    }
  }
  return make_topology("king-torus", rows * columns, edges);
}

/// Rows of `columns` peers; `wrapped` joins the borders: a torus.
Topology lattice(const std::string& name, std::vector<PeerId> shape, bool wrapped) {
  const PeerId rows = shape[0];
  const PeerId columns = shape[1];
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

Topology hypercube(PeerId n) {
  if ((n & (n - 1)) != 0)
    refuse("hypercube: the number of peers must be a power of two, not " + std::to_string(n));
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId bit = 1; bit < n; bit *= 2) edges.emplace_back(i, i ^ bit);
  }
  return make_topology("hypercube", n, edges);
}

/// Static exponential graph: i receives from i - 2^k, k < ceil(log2 n). Ying et al. 2021,
/// arXiv:2110.13363.
Topology exponential(PeerId n, bool directed) {
  std::vector<Edge> edges;
  Topology t{.name = "exponential",
             .directed = true,
             .neighbors = std::vector<std::vector<PeerId>>(n),
             .edge_weights = {}};
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId hop = 1; hop < n; hop *= 2) {
      const PeerId from = (i + n - hop) % n;
      t.neighbors[i].push_back(from);
      edges.emplace_back(from, i);
    }
    std::ranges::sort(t.neighbors[i]);
  }
  return directed ? t : make_topology("symmetric-exponential", n, edges);
}

std::vector<PeerId> shape_of(const TopologySpec& spec, PeerId n) {
  if (spec.shape.empty()) {
    PeerId rows = 1;
    for (PeerId r = 1; r * r <= n; ++r) {
      if (n % r == 0) rows = r;
    }
    return {rows, n / rows};
  }
  if (spec.shape.size() != 2) refuse(spec.kind + ": the shape needs two numbers, rows and columns");
  const std::uint64_t product = std::uint64_t{spec.shape[0]} * spec.shape[1];
  if (product != n) {
    refuse(spec.kind + " " + std::to_string(spec.shape[0]) + "x" + std::to_string(spec.shape[1]) +
           " has " + std::to_string(product) + " peers, the fleet has " + std::to_string(n));
  }
  return spec.shape;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row.back();
}

std::string known_kinds(std::string_view text) {
  std::string list;
  std::string_view nearest;
  std::size_t best = std::max<std::size_t>(2, text.size() / 3) + 1;
  for (const Family& f : families()) {
    list += (list.empty() ? "" : ", ") + std::string(f.kind);
    if (const std::size_t d = edit_distance(text, f.kind); d < best) {
      best = d;
      nearest = f.kind;
    }
  }
  const std::string hint = nearest.empty() ? "" : "; did you mean `" + std::string(nearest) + "`?";
  return hint + " (known: " + list + ")";
}

void parse_shape(std::string_view text, TopologySpec& spec) {
  const auto cross = text.find('x');
  if (cross == std::string_view::npos)
    refuse(spec.kind + ": write the shape as ROWSxCOLUMNS, such as 4x4, not `" + std::string(text) +
           "`");
  spec.shape = {parse_number<PeerId>(text.substr(0, cross), spec.kind),
                parse_number<PeerId>(text.substr(cross + 1), spec.kind)};
}

void parse_parameter(std::string_view text, TopologySpec& spec) {
  const auto equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  const std::string what = spec.kind + ": " + std::string(key);
  const auto has = [&](std::string_view kind) { return spec.kind == kind; };
  const bool equi_static = is_equi_static(spec);
  const bool random =
      has("random-regular") || has("erdos-renyi") || has("small-world") || equi_static;
  if (key == "degree" && has("random-regular"))
    spec.degree = parse_number<PeerId>(value, what);
  else if (key == "p" && has("erdos-renyi"))
    spec.p = parse_number<double>(value, what);
  else if (key == "m" && equi_static)
    spec.shifts = parse_number<PeerId>(value, what);
  else if (key == "k" && (has("small-world") || has("ring-lattice")))
    spec.k = parse_number<PeerId>(value, what);
  else if (key == "beta" && has("small-world"))
    spec.beta = parse_number<double>(value, what);
  else if (key == "seed" && random)
    spec.seed = parse_number<std::uint64_t>(value, what);
  else
    refuse(spec.kind + " has no parameter `" + std::string(key) + "`");
}

}  // namespace

bool has_shape(const TopologySpec& spec) {
  return spec.kind == "grid" || spec.kind == "torus" || spec.kind == "king-torus";
}

bool is_equi_static(const TopologySpec& spec) {
  return spec.kind == "d-equi-static" || spec.kind == "u-equi-static";
}

const std::vector<Family>& families() {
  static const std::vector<Family> rows{
      {"ring", "", "each peer and its two neighbours on a circle"},
      {"path", "", "a ring with one edge cut"},
      {"star", "", "peer 0 in the middle"},
      {"complete", "", "everybody with everybody"},
      {"grid", "RxC", "a rectangle of R rows and C columns"},
      {"torus", "RxC", "a grid whose borders are joined"},
      {"king-torus", "RxC", "a torus with its diagonals: 8 neighbours"},
      {"ring-lattice", "k=K", "a ring with K / 2 neighbours on each side"},
      {"binary-tree", "", "peer 0 is the root, i has the children 2i + 1 and 2i + 2"},
      {"hypercube", "", "n = 2^d peers, neighbours differ in one bit of their id"},
      {"exponential", "", "directed: i receives from i - 1, i - 2, i - 4, ...; arXiv:2110.13363"},
      {"symmetric-exponential", "", "the exponential graph without directions"},
      {"random-regular", "degree=D,seed=S", "every peer has D random neighbours; connected"},
      {"erdos-renyi", "p=P,seed=S", "every edge exists with probability P"},
      {"small-world",
       "k=K,beta=B,seed=S",
       "a ring lattice of K neighbours, rewired with probability B; Watts & Strogatz 1998"},
      {"d-equi-static",
       "m=M,seed=S",
       "directed: M random shifts of the circle (0: ceil(log2 n)); weights edge-list are the "
       "paper's; arXiv:2210.07881"},
      {"u-equi-static", "m=M,seed=S", "the same without directions; arXiv:2210.07881"},
      {"file", "PATH", "by extension: .json .dot .graphml .npy, else an edge list"},
  };
  return rows;
}

TopologySpec parse_topology(std::string_view text) {
  const auto colon = text.find(':');
  TopologySpec spec;
  spec.kind = text.substr(0, colon);
  const auto known = [&](const Family& f) { return f.kind == spec.kind; };
  if (std::ranges::none_of(families(), known))
    refuse("unknown topology `" + spec.kind + "`" + known_kinds(spec.kind));
  if (colon == std::string_view::npos) {
    if (spec.kind == "file") refuse("file: write file:PATH");
    return spec;
  }
  std::string_view rest = text.substr(colon + 1);
  if (spec.kind == "file") {
    spec.file = rest;
  } else if (has_shape(spec)) {
    parse_shape(rest, spec);
  } else {
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      parse_parameter(rest.substr(0, comma), spec);
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    }
  }
  return spec;
}

std::string to_string(const TopologySpec& spec) {
  if (spec.kind == "file") return "file:" + spec.file;
  if (has_shape(spec) && !spec.shape.empty()) {
    return spec.kind + ":" + std::to_string(spec.shape[0]) + "x" + std::to_string(spec.shape[1]);
  }
  const std::string seed = ",seed=" + std::to_string(spec.seed);
  if (spec.kind == "random-regular")
    return "random-regular:degree=" + std::to_string(spec.degree) + seed;
  if (spec.kind == "erdos-renyi") return "erdos-renyi:p=" + shortest(spec.p) + seed;
  if (spec.kind == "small-world")
    return "small-world:k=" + std::to_string(spec.k) + ",beta=" + shortest(spec.beta) + seed;
  if (spec.kind == "ring-lattice") return "ring-lattice:k=" + std::to_string(spec.k);
  if (is_equi_static(spec)) return spec.kind + ":m=" + std::to_string(spec.shifts) + seed;
  return spec.kind;
}

Topology build(const TopologySpec& spec, PeerId n) {
  if (n == 0) refuse("a fleet needs at least one peer");
  const auto made = [&]() -> Topology {
    if (spec.kind == "ring") return ring(n);
    if (spec.kind == "path") return path(n);
    if (spec.kind == "star") return star(n);
    if (spec.kind == "complete") return complete(n);
    if (spec.kind == "grid" || spec.kind == "torus")
      return lattice(spec.kind, shape_of(spec, n), spec.kind == "torus");
    if (spec.kind == "king-torus") return king_torus(shape_of(spec, n));
    if (spec.kind == "ring-lattice") return ring_lattice(n, spec.k);
    if (spec.kind == "binary-tree") return binary_tree(n);
    if (spec.kind == "hypercube") return hypercube(n);
    if (spec.kind == "exponential") return exponential(n, true);
    if (spec.kind == "symmetric-exponential") return exponential(n, false);
    if (spec.kind == "random-regular") return random_regular(n, spec.degree, spec.seed);
    if (spec.kind == "erdos-renyi") return erdos_renyi(n, spec.p, spec.seed);
    if (spec.kind == "small-world") return small_world(n, spec.k, spec.beta, spec.seed);
    if (is_equi_static(spec))
      return equi_static(n, spec.shifts, spec.seed, spec.kind == "d-equi-static");
    if (spec.kind == "file") return read_graph(spec.file, n);
    refuse("unknown topology `" + spec.kind + "`" + known_kinds(spec.kind));
  };
  Topology t = made();
  TopologySpec full = spec;
  if (has_shape(spec)) full.shape = shape_of(spec, n);
  t.name = to_string(full);
  return t;
}

}  // namespace gv
