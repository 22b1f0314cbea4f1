#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "graph/formats/npy_matrix.h"
#include "peer/fleet/json/json.h"
#include "peer/record/runs/stored_run.h"

namespace gv {

/// The records that the peers of a ring wrote. Each round is 50 ms of arithmetic, 1 of mixing, 10
/// late for the next peer and 20 on the wire. Rounds 0..7 and 64..71 have moments.
struct RecordsOfPeers {
  std::uint64_t peers = 4;
  std::uint64_t rounds = 100;

  static constexpr double compute = 0.05, mix = 0.001, late = 0.01, wire = 0.02;
  static constexpr double round_seconds = compute + mix + late + wire;

  /// Returns the seconds of all peers in each state after `rounds_of_all` rounds in sum.
  Json states(double rounds_of_all) const {
    Json json = Json::object();
    for (std::size_t k = 0; k < activity_names.size(); ++k)
      json.add(activity_names[k],
               std::array{compute, mix, 0.0, late, wire}[std::min<std::size_t>(k, 4)] *
                   (k < 5 ? rounds_of_all : 0));
    return json;
  }

  NpyMatrix moments(std::uint64_t peer) const {
    NpyMatrix m{.columns = 5, .values = {}};
    const auto add = [&](std::uint64_t round, double state, double begin, double length,
                         double with) {
      const double start = static_cast<double>(round) * round_seconds + begin;
      m.values.insert(m.values.end(),
                      {static_cast<double>(round), state, start, start + length, with});
      ++m.rows;
    };
    const auto next = static_cast<double>((peer + 1) % peers);
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{64}}) {
      for (std::uint64_t round = first; round < std::min(first + 8, rounds); ++round) {
        add(round, 0, 0, compute, -1);
        add(round, 1, compute, mix, -1);
        add(round, 3, compute + mix, late, next);
        add(round, 4, compute + mix + late, wire, next);
      }
    }
    return m;
  }

  Json totals(std::uint64_t peer) const {
    const auto all = static_cast<double>(rounds);
    Json neighbours = Json::object();
    neighbours.add(std::to_string((peer + 1) % peers), {{"late", late * all},
                                                        {"wire", wire * all},
                                                        {"longest_wait", 0.03},
                                                        {"exchanges", rounds}});
    return {{"schema", "grapevine.totals/1"},
            {"peer", peer},
            {"seconds", all * round_seconds},
            {"states", states(all)},
            {"hidden_wire", 0.005 * all},
            {"neighbours", neighbours},
            {"bytes", Json{{"model", 1e6}, {"other", 0}, {"repeated", 0}}},
            {"staleness", std::vector<std::uint64_t>{rounds, 5, 1}}};
  }

  /// Writes into the folder of a run, whose evaluations then get the states too.
  void write(const std::string& run) const {
    for (std::uint64_t peer = 0; peer < peers; ++peer) {
      const std::string folder = fmt::format("{}/peers/{:03}", run, peer);
      std::filesystem::create_directories(folder);
      std::ofstream(folder + "/moments.0.npy", std::ios::binary) << npy_bytes(moments(peer));
      std::ofstream(folder + "/totals.json") << totals(peer).dump() << "\n";
    }
    std::ifstream in(run + "/metrics.jsonl");
    std::string text;
    for (std::string line; std::getline(in, line);) {
      if (const auto at = line.find("\"round\":"); at != std::string::npos) {
        const double round = std::stod(line.substr(at + 8));
        line.insert(line.size() - 1, fmt::format(",\"states\":{},\"hidden_wire\":{}",
                                                 states(round * static_cast<double>(peers)).dump(),
                                                 0.005 * round * static_cast<double>(peers)));
      }
      text += line + "\n";
    }
    in.close();
    std::ofstream(run + "/metrics.jsonl") << text;
  }
};

}  // namespace gv
