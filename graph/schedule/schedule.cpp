#include "graph/schedule/schedule.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "graph/schedule/base_graph.h"
#include "graph/schedule/equi_topo.h"
#include "graph/schedule/matcha.h"
#include "graph/schedule/one_peer.h"
#include "graph/schedule/periodic_schedule.h"
#include "graph/topology/spec_text.h"

namespace gv {
namespace {

bool is_equi_dyn(const ScheduleSpec& spec) {
  return spec.kind == "od-equi-dyn" || spec.kind == "ou-equi-dyn";
}

bool is_random(const ScheduleSpec& spec) {
  return is_equi_dyn(spec) || spec.kind == "random-matching" || spec.kind == "matcha";
}

void parse_parameter(std::string_view text, ScheduleSpec& spec) {
  const auto equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  const std::string what = spec.kind + ": " + std::string(key);
  if (key == "k" && spec.kind == "base")
    spec.k = parse_number<PeerId>(value, what);
  else if (key == "eta" && is_equi_dyn(spec))
    spec.eta = parse_number<double>(value, what);
  else if (key == "m" && is_equi_dyn(spec))
    spec.shifts = parse_number<PeerId>(value, what);
  else if (key == "budget" && spec.kind == "matcha")
    spec.budget = parse_number<double>(value, what);
  else if (key == "seed" && is_random(spec))
    spec.seed = parse_number<std::uint64_t>(value, what);
  else
    throw std::invalid_argument(spec.kind + " has no parameter `" + std::string(key) + "`");
}

}  // namespace

MixingMatrix MixingSchedule::matrix(std::uint64_t round) const {
  std::vector<Neighborhood> rows;
  for (PeerId i = 0; i < size(); ++i) rows.push_back(row(round, i));
  return {std::move(rows), directed()};
}

Neighborhood MixingSchedule::links(PeerId i) const {
  std::set<PeerId> peers;
  std::set<PeerId> receivers;
  for (std::uint64_t k = 0; k < period(); ++k) {
    const Neighborhood one = row(k, i);
    peers.insert(one.peers.begin(), one.peers.end());
    receivers.insert(one.receivers.begin(), one.receivers.end());
  }
  for (PeerId j = 0; period() == 0 && j < size(); ++j)
    if (j != i) peers.insert(j);
  if (period() == 0) receivers = peers;
  return {.self = 1,
          .peers = {peers.begin(), peers.end()},
          .weights = std::vector<double>(peers.size()),
          .receivers = {receivers.begin(), receivers.end()}};
}

Topology MixingSchedule::topology(std::string name) const {
  Topology t{.name = std::move(name), .directed = directed(), .neighbors = {}, .edge_weights = {}};
  for (PeerId i = 0; i < size(); ++i) t.neighbors.push_back(links(i).peers);
  return t;
}

const std::vector<Family>& schedule_kinds() {
  static const std::vector<Family> rows{
      {"one-peer-exponential",
       "",
       "directed: round t hears i - 2^t, t modulo ceil(log2 n); arXiv:2110.13363"},
      {"random-matching", "seed=S", "every round pairs all peers at random; Boyd et al. 2006"},
      {"base", "k=K", "Base-(k+1): at most K neighbours, exact after a period; arXiv:2305.11420"},
      {"od-equi-dyn",
       "eta=E,m=M,seed=S",
       "directed: every round one random shift (of M drawn; 0: of all); arXiv:2210.07881"},
      {"ou-equi-dyn", "eta=E,m=M,seed=S", "the same with undirected pairs; arXiv:2210.07881"},
      {"matcha",
       "budget=B,seed=S,graph=TOPOLOGY",
       "random matchings of a graph, a share B of them per round; arXiv:1905.09435"},
  };
  return rows;
}

bool is_schedule(std::string_view text) {
  const std::string_view kind = text.substr(0, text.find(':'));
  return std::ranges::any_of(schedule_kinds(), [&](const Family& f) { return f.kind == kind; });
}

ScheduleSpec parse_schedule(std::string_view text) {
  ScheduleSpec spec;
  if (!is_schedule(text)) {
    spec.topology = parse_topology(text);
    return spec;
  }
  const auto colon = text.find(':');
  spec.kind = text.substr(0, colon);
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  while (!rest.empty()) {
    if (spec.kind == "matcha" && rest.starts_with("graph=")) {
      spec.topology = parse_topology(rest.substr(6));
      break;
    }
    const auto comma = rest.find(',');
    parse_parameter(rest.substr(0, comma), spec);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return spec;
}

std::string to_string(const ScheduleSpec& spec) {
  const std::string seed = "seed=" + std::to_string(spec.seed);
  if (spec.kind == "static") return to_string(spec.topology);
  if (spec.kind == "random-matching") return "random-matching:" + seed;
  if (spec.kind == "base") return "base:k=" + std::to_string(spec.k);
  if (is_equi_dyn(spec)) {
    return spec.kind + ":eta=" + shortest(spec.eta) + ",m=" + std::to_string(spec.shifts) + "," +
           seed;
  }
  if (spec.kind == "matcha") {
    return "matcha:budget=" + shortest(spec.budget) + "," + seed +
           ",graph=" + to_string(spec.topology);
  }
  return spec.kind;
}

std::unique_ptr<MixingSchedule> make_schedule(const ScheduleSpec& spec, PeerId n) {
  if (n == 0) throw std::invalid_argument("a fleet needs at least one peer");
  if (spec.kind == "static") {
    const MixingMatrix w = mixing_matrix(spec.weights, build(spec.topology, n));
    return std::make_unique<PeriodicSchedule>(std::vector<MixingMatrix>{w});
  }
  if (spec.kind == "one-peer-exponential") return one_peer_exponential(n);
  if (spec.kind == "random-matching") return random_matching(n, spec.seed);
  if (spec.kind == "base") return std::make_unique<PeriodicSchedule>(base_graph(n, spec.k));
  if (spec.kind == "od-equi-dyn") return od_equi_dyn(n, spec.shifts, spec.eta, spec.seed);
  if (spec.kind == "ou-equi-dyn") return ou_equi_dyn(n, spec.shifts, spec.eta, spec.seed);
  if (spec.kind == "matcha")
    return matcha_schedule(build(spec.topology, n), spec.budget, spec.seed);
  throw std::invalid_argument("unknown schedule `" + spec.kind + "`");
}

}  // namespace gv
