#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "gossip/algorithm.h"
#include "graph/schedules.h"
#include "peer/fleet/fleet.h"
#include "peer/fleet/fleet_setup.h"

namespace gv {

/// Returns a fleet without a file: n peers, quadratic, three rounds.
inline Fleet quadratic_fleet(PeerId n,
                             const std::string& topology,
                             const std::string& algorithm,
                             const std::string& order) {
  Fleet fleet;
  fleet.path = "test";
  fleet.peers.assign(n, {});
  fleet.data.kind = "quadratic";
  fleet.model.kind = "quadratic";
  const ScheduleSpec spec = parse_schedule(topology);
  fleet.topology = spec.topology;
  if (is_schedule(topology)) fleet.schedule = spec;
  fleet.algorithm = algorithm;
  fleet.order = order;
  fleet.stop.rounds = 3;
  return fleet;
}

/// Returns a fleet for this row, on two machines and with noisy, different gradients.
inline Fleet row_fleet(const AlgorithmRow& row, PeerId n = 8) {
  std::string graph = "ring";
  if (row.kind == "relay-sgd") graph = "binary-tree";
  if (row.kind == "sgp") graph = "exponential";
  if (row.kind == "robust-gossip") graph = "complete";
  Fleet fleet = quadratic_fleet(n, graph, std::string(row.kind), std::string(row.order));
  fleet.data.quadratic.dimension = 50;
  fleet.data.quadratic.spread = 1;
  if (row.kind != "sgp") fleet.weights = "lazy";
  if (row.kind == "hogwild") {
    fleet.data.kind = "sparse";
    fleet.data.train = 400;
    fleet.data.features = 50;
    fleet.model.kind = "logistic";
  }
  fleet.hosts = {{.name = "a"}, {.name = "b"}};
  for (PeerId i = 0; i < n; ++i) fleet.peers[i].host = std::string(1, i < 3 * n / 8 ? 'a' : 'b');
  fleet.stop.rounds = 12;
  fleet.settings["every"] = 4;
  if (row.kind == "robust-gossip" && n < 4) fleet.settings["liars"] = 0;
  for (const std::uint32_t local_steps : {3U, 1U}) {
    fleet.local_steps = local_steps;
    for (const double momentum : {0.5, 0.0}) {
      fleet.optimizer.momentum = momentum;
      if (row.objection == nullptr || row.objection(setup_of(fleet), nullptr).empty()) return fleet;
    }
  }
  return fleet;
}

/// Returns the rows whose bits do not depend on the order of arrival.
inline std::vector<const AlgorithmRow*> synchronous_rows() {
  std::vector<const AlgorithmRow*> rows;
  std::ranges::copy_if(algorithms(), std::back_inserter(rows), &AlgorithmRow::synchronous);
  return rows;
}

/// Returns the codecs that a row accepts.
inline std::vector<Codec> codecs_of(const AlgorithmRow& row) {
  std::vector<Codec> codecs;
  for (const std::string& word : codec_words()) {
    const Codec codec{.kind = codec_kind(word), .fraction = 0.1};
    const bool takes = row.codecs == Codecs::all || (row.codecs == Codecs::dense && codec.dense());
    if (takes) codecs.push_back(codec);
  }
  return codecs;
}

/// Returns "all_reduce_ring", for the name of a test.
inline std::string name_of(const AlgorithmRow& row) {
  std::string name(row.kind);
  if (!row.order.empty()) name.append("_").append(row.order);
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Returns a fleet with rounds of about a millisecond and noise that keeps the models apart, so
/// that the mean shows a flow that only one end applied.
inline Fleet restless_fleet(PeerId n, const std::string& topology, const std::string& order) {
  Fleet fleet = quadratic_fleet(n, topology, "d-psgd", order);
  fleet.data.quadratic.dimension = 4;
  fleet.data.quadratic.noise = 10;
  fleet.data.quadratic.spread = 3;
  fleet.optimizer.lr = 0.1;
  fleet.network.latency = std::chrono::microseconds(300);
  fleet.network.bandwidth = 125e6;
  fleet.flops = 1e6;
  fleet.stop.rounds = 200;
  fleet.checkpoint.every = 10;
  fleet.faults.deadline = std::chrono::milliseconds(50);
  return fleet;
}

}  // namespace gv
