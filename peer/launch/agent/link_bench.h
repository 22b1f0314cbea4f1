#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/launch/agent/link_meter.h"
#include "peer/launch/agent/machines.h"

namespace gv {

/// Link from one machine to another, by their places among the hosts.
struct MeasuredLink {
  std::size_t from = 0, to = 0;
  LinkSpeed speed;
};

/// Measured speeds of the links between machines.
struct LinkTable {
  std::vector<std::string> hosts;
  std::vector<MeasuredLink> links;
  std::vector<double> together;       ///< bytes per second from each to all others at once; or 0
  std::vector<std::string> findings;  ///< problems, each with what to do

  const LinkSpeed* find(std::size_t from, std::size_t to) const;
  /// Returns the mean latency and the lower bandwidth of both ways, as far as they are known.
  std::optional<LinkSpeed> both_ways(std::size_t a, std::size_t b) const;
  /// Returns whether a host's streams to all others at once are clearly slower than one by one.
  bool shares_a_card(std::size_t host) const;
};

/// Returns a row for each host: latencies above the diagonal, bandwidths below it.
std::string screen_of(const LinkTable& table);
/// Returns the file that `links: { file: ... }` of a fleet file names. `title`: a comment.
std::string yaml_of(const LinkTable& table, const std::string& title);
/// {"schema":"grapevine.links/1","hosts":[..],"links":[{"from","to","latency_seconds",
/// "bytes_per_second"}],"together":{HOST: bytes per second},"findings":[..]}
Json json_of(const LinkTable& table);

struct LinkBenchOptions {
  bool edges = false;    ///< only pairs with an edge of the graph between their peers
  double seconds = 0.5;  ///< duration of each stream; 0.2 to 3
  std::function<void(const std::string&)> on_progress;
};

/// Starts an agent on each machine of the fleet and measures the links between all machines (see
/// link_meter.h): those of disjoint pairs at the same time, then all streams of one machine at
/// once, which shows how its links share bandwidth. Failed measurements are among the findings.
LinkTable bench_links(const Assembly& fleet,
                      const LanOptions& options,
                      const LinkBenchOptions& bench);

}  // namespace gv
