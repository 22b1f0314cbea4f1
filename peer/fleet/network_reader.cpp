#include "peer/fleet/network_reader.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace gv {
namespace {

constexpr const char* pair_help = "write `between: [0, 3]`";

void read_link_keys(MapReader& map, Time& latency, Time& jitter, double& bandwidth) {
  Source& source = map.source();
  if (const Value* value = map.take("latency"))
    latency = read_duration(source, *value).value_or(latency);
  const Value* own_jitter = map.take("jitter");
  if (own_jitter != nullptr) jitter = read_duration(source, *own_jitter).value_or(jitter);
  if (const Value* value = map.take("bandwidth"))
    bandwidth = read_bandwidth(source, *value).value_or(bandwidth);
  if (own_jitter != nullptr && jitter > latency) {
    source.error(*own_jitter,
                 fmt::format("a jitter of {} ms around a latency of {} ms",
                             std::chrono::duration<double, std::milli>(jitter).count(),
                             std::chrono::duration<double, std::milli>(latency).count()),
                 "the latency of a frame is `latency` -+ `jitter`: jitter must not be the larger");
  }
  if (own_jitter == nullptr) jitter = std::min(jitter, latency);
}

std::optional<std::pair<PeerId, PeerId>> read_pair(Source& source,
                                                   const Value& item,
                                                   const Value* between,
                                                   PeerId peers) {
  if (between == nullptr) {
    source.error(item, "missing key `between`", pair_help);
    return {};
  }
  if (between->kind != Value::Kind::sequence || between->items.size() != 2) {
    source.error(*between, "expected two peers", pair_help);
    return {};
  }
  const PeerId last = peers > 0 ? peers - 1 : 0;
  const auto a = read_count(source, between->items[0], 0, last);
  const auto b = read_count(source, between->items[1], 0, last);
  if (!a || !b) return {};
  if (*a == *b) {
    source.error(*between, fmt::format("peer {} has no link with itself", *a), pair_help);
    return {};
  }
  return std::minmax(static_cast<PeerId>(*a), static_cast<PeerId>(*b));
}

void read_link(Source& source, const Value& item, PeerId peers, NetworkSpec& network) {
  MapReader map(source, &item, "links");
  const auto pair = read_pair(source, item, map.take("between"), peers);
  LinkSpec link = network.link(0, 0);
  read_link_keys(map, link.latency, link.jitter, link.bandwidth);
  map.finish();
  if (!pair || network.links.emplace(*pair, link).second) return;
  source.error(item,
               fmt::format("the link between {} and {} is listed twice", pair->first, pair->second),
               "remove one of them; a link is the same both ways");
}

}  // namespace

NetworkSpec read_network(Source& source, const Value* network, const Value* links, PeerId peers) {
  NetworkSpec spec;
  MapReader map(source, network, "network");
  read_link_keys(map, spec.latency, spec.jitter, spec.bandwidth);
  if (const Value* shape = map.take("shape")) {
    const auto word = read_choice(source, *shape, {"per-nic", "per-link"});
    if (word == "per-link") spec.shape = NetworkShape::per_link;
  }
  if (const Value* emulate = map.take("emulate"))
    spec.emulate = read_bool(source, *emulate).value_or(false);
  if (const Value* local = map.take("local")) {
    const auto word = read_choice(source, *local, {"shared", "tcp"});
    if (word == "tcp") spec.local = LocalTransport::tcp;
    if (word == "shared" && spec.emulate)
      source.error(*local,
                   "shared memory beside an emulated network",
                   "what is emulated must be sent: leave `local` out, or `emulate`");
  }
  map.finish();
  if (links == nullptr) return spec;
  if (links->kind != Value::Kind::sequence) {
    source.error(*links,
                 "expected a list of links",
                 "such as `links: [{ between: [0, 3], latency: 20 ms }]`");
    return spec;
  }
  for (const Value& item : links->items) read_link(source, item, peers, spec);
  return spec;
}

}  // namespace gv
