#include "peer/launch/agent/link_bench.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/fleet/net_address.h"
#include "peer/launch/agent/peer_paths.h"

namespace gv {
namespace {

std::string milliseconds(double seconds) {
  const double ms = seconds * 1e3;
  return fmt::format("{:.{}f} ms", ms, ms < 1 ? 2 : ms < 10 ? 1 : 0);
}

std::string bits(double bytes_per_second) {
  const double mbit = bytes_per_second * 8e-6;
  if (mbit >= 1000) return fmt::format("{:.1f} Gbit", mbit / 1000);
  return fmt::format("{:.{}f} Mbit", mbit, mbit < 10 ? 1 : 0);
}

/// Returns a word of YAML.
std::string quoted(const std::string& host) {
  const bool plain = std::ranges::all_of(host, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
  });
  return plain ? host : Json(host).dump();
}

using Pair = PeerPaths::Pair;

class Bench {
 public:
  Bench(const Assembly& fleet, const LanOptions& options, const LinkBenchOptions& bench)
      : bench_(bench),
        machines_(fleet, options),
        paths_(bench.edges ? PeerPaths(fleet, machines_) : PeerPaths(machines_)) {}

  LinkTable run() {
    bench_.on_progress("starting an agent on each host");
    machines_.start();
    paths_.find();
    open_meters();
    table_.hosts = machines_.names();
    table_.together.assign(machines_.all().size(), 0);
    measure_pairs();
    measure_together();
    for (const std::string& wrong : {machines_.failures(), paths_.missing()})
      if (!wrong.empty()) table_.findings.push_back(wrong);
    return std::move(table_);
  }

 private:
  void open_meters() {
    const auto meter = [this](std::size_t k) {
      const Machine& machine = machines_.at(k);
      return Json{{"address", any_address}, {"port", machine.spec.port}, {"nonce", machine.nonce}}
          .dump();
    };
    const auto opened = machines_.ask(AgentKind::meter, AgentKind::opened, meter);
    ports_.assign(opened.size(), 0);
    for (std::size_t k = 0; k < opened.size(); ++k) {
      if (opened[k].empty()) continue;
      const JsonValue json = parse_json(opened[k], "an agent's meter");
      if (json.find("error") == nullptr)
        ports_[k] = json_integer<std::uint16_t>(json, "port");
      else
        finding(fmt::format("host {}: {}", machines_.at(k).spec.name,
                            printable(json_text(json, "error"), 300)));
    }
  }

  /// Measures all pairs at once.
  std::vector<MeasuredLink> measure(const std::vector<Pair>& pairs, double seconds) {
    std::vector<std::vector<Pair>> asked(machines_.all().size());
    for (const Pair& pair : pairs)
      if (ports_[pair.second] != 0 && !paths_.between(pair).empty())
        asked[pair.first].push_back(pair);
    const auto order = [&](std::size_t k) {
      Json calls = Json::array();
      for (const Pair& pair : asked[k])
        calls.push_back(Json{{"address", paths_.between(pair)},
                             {"port", ports_[pair.second]},
                             {"nonce", machines_.at(pair.second).nonce}});
      return Json{{"calls", calls}, {"seconds", seconds}}.dump();
    };
    const auto told = machines_.ask(AgentKind::measure, AgentKind::measured, order);
    std::vector<MeasuredLink> links;
    for (std::size_t k = 0; k < told.size(); ++k) {
      if (told[k].empty()) continue;
      const JsonValue json = parse_json(told[k], "an agent's measurement");
      const std::vector<JsonValue>& speeds = json_member(json, "links").items;
      for (std::size_t c = 0; c < asked[k].size() && c < speeds.size(); ++c)
        links.push_back({asked[k][c].first, asked[k][c].second, speed_in(speeds[c])});
    }
    return links;
  }

  static LinkSpeed speed_in(const JsonValue& json) {
    if (json.find("error") != nullptr) return {.why = printable(json_text(json, "error"), 200)};
    return {.latency = json_number(json, "latency"), .bandwidth = json_number(json, "bandwidth")};
  }

  /// Measures in matchings, one direction at a time: pairs with the same sum modulo the number of
  /// machines have no machine in common.
  void measure_pairs() {
    const std::size_t n = machines_.all().size();
    for (std::size_t sum = 0; sum < n; ++sum)
      for (const bool up : {true, false}) {
        std::vector<Pair> pairs;
        for (const Pair& pair : paths_.pairs())
          if ((pair.first + pair.second) % n == sum && (pair.first < pair.second) == up)
            pairs.push_back(pair);
        if (pairs.empty()) continue;
        bench_.on_progress(
            fmt::format("one by one: {} of {} links", table_.links.size(), paths_.pairs().size()));
        for (const MeasuredLink& link : measure_long_enough(pairs)) take(link);
      }
  }

  /// Measures slow links again, for longer: a burst would be too large a part of so few bytes.
  std::vector<MeasuredLink> measure_long_enough(const std::vector<Pair>& pairs) {
    std::vector<MeasuredLink> links = measure(pairs, bench_.seconds);
    std::vector<Pair> again;
    for (const MeasuredLink& link : links)
      if (is_slow(link)) again.emplace_back(link.from, link.to);
    if (again.empty()) return links;
    std::erase_if(links, is_slow);
    for (const MeasuredLink& link : measure(again, longer())) links.push_back(link);
    return links;
  }

  static bool is_slow(const MeasuredLink& link) {
    constexpr double slow = 5e6;  // bytes per second
    return link.speed.why.empty() && link.speed.bandwidth < slow;
  }
  /// Duration of a repeated measurement; shorter than the maximum wait for an agent.
  double longer() const { return std::min(4 * bench_.seconds, 6.0); }

  void take(const MeasuredLink& link) {
    table_.links.push_back(link);
    if (!link.speed.why.empty())
      finding(fmt::format("{} -> {} could not be measured: {}", table_.hosts[link.from],
                          table_.hosts[link.to], link.speed.why));
  }

  void finding(const std::string& text) { table_.findings.push_back(text); }

  void measure_together() {
    for (std::size_t host = 0; host < machines_.all().size(); ++host) {
      std::vector<Pair> pairs;
      for (const Pair& pair : paths_.pairs())
        if (pair.first == host) pairs.push_back(pair);
      if (pairs.size() < 2) continue;
      bench_.on_progress(fmt::format("all at once from {}", table_.hosts[host]));
      const bool slow = std::ranges::any_of(table_.links, [&](const MeasuredLink& link) {
        return link.from == host && is_slow(link);
      });
      for (const MeasuredLink& link : measure(pairs, slow ? longer() : bench_.seconds))
        table_.together[host] += link.speed.bandwidth;
    }
  }

  const LinkBenchOptions& bench_;
  Machines machines_;
  PeerPaths paths_;
  LinkTable table_;
  std::vector<std::uint16_t> ports_;
};

}  // namespace

const LinkSpeed* LinkTable::find(std::size_t from, std::size_t to) const {
  const auto at = std::ranges::find_if(
      links, [&](const MeasuredLink& link) { return link.from == from && link.to == to; });
  return at == links.end() || !at->speed.why.empty() ? nullptr : &at->speed;
}

std::optional<LinkSpeed> LinkTable::both_ways(std::size_t a, std::size_t b) const {
  const LinkSpeed* const there = find(a, b);
  const LinkSpeed* const back = find(b, a);
  if (there == nullptr && back == nullptr) return std::nullopt;
  if (there == nullptr || back == nullptr) return there == nullptr ? *back : *there;
  return LinkSpeed{.latency = (there->latency + back->latency) / 2,
                   .bandwidth = std::min(there->bandwidth, back->bandwidth)};
}

bool LinkTable::shares_a_card(std::size_t host) const {
  constexpr double clearly = 0.75;
  double one_by_one = 0;
  for (const MeasuredLink& link : links)
    if (link.from == host && link.speed.why.empty()) one_by_one += link.speed.bandwidth;
  return together.at(host) > 0 && together[host] < clearly * one_by_one;
}

std::string screen_of(const LinkTable& table) {
  std::size_t name = 0;
  for (const std::string& host : table.hosts) name = std::max(name, host.size());
  const std::size_t width = std::max(name, std::string_view("999 Mbit").size());
  std::string text = fmt::format("{:<{}}", "", name);
  for (const std::string& host : table.hosts) text += fmt::format(" {:>{}}", host, width);
  for (std::size_t a = 0; a < table.hosts.size(); ++a) {
    text += fmt::format("\n{:<{}}", table.hosts[a], name);
    for (std::size_t b = 0; b < table.hosts.size(); ++b) {
      const auto link = a == b ? std::nullopt : table.both_ways(a, b);
      const std::string cell = !link   ? "-"
                               : a < b ? milliseconds(link->latency)
                                       : bits(link->bandwidth);
      text += fmt::format(" {:>{}}", cell, width);
    }
  }
  for (std::size_t h = 0; h < table.hosts.size(); ++h)
    if (table.shares_a_card(h))
      text += fmt::format("\n{}: its links share one card: {} together", table.hosts[h],
                          bits(table.together[h]));
  return text;
}

std::string yaml_of(const LinkTable& table, const std::string& title) {
  std::string text = fmt::format("# {}\nversion: 1\nlinks:\n", title);
  bool any = false;
  for (std::size_t a = 0; a < table.hosts.size(); ++a)
    for (std::size_t b = a + 1; b < table.hosts.size(); ++b) {
      const auto link = table.both_ways(a, b);
      if (!link) continue;
      any = true;
      text +=
          fmt::format("  - {{ between: [{}, {}], latency: {:.3f} ms, bandwidth: {:.1f} Mbit }}\n",
                      quoted(table.hosts[a]), quoted(table.hosts[b]), link->latency * 1e3,
                      link->bandwidth * 8e-6);
    }
  if (!any) text.insert(text.size() - 1, " []");
  std::string cards;
  for (std::size_t h = 0; h < table.hosts.size(); ++h)
    if (table.shares_a_card(h))
      cards += fmt::format("  {}: {:.1f} Mbit\n", quoted(table.hosts[h]), table.together[h] * 8e-6);
  if (!cards.empty()) text += "cards:   # of all that a host sends at once\n" + cards;
  return text;
}

Json json_of(const LinkTable& table) {
  Json links = Json::array();
  for (const MeasuredLink& link : table.links) {
    Json row{{"from", table.hosts[link.from]}, {"to", table.hosts[link.to]}};
    if (link.speed.why.empty()) {
      row.add("latency_seconds", link.speed.latency);
      row.add("bytes_per_second", link.speed.bandwidth);
    } else {
      row.add("error", link.speed.why);
    }
    links.push_back(row);
  }
  Json together = Json::object();
  for (std::size_t h = 0; h < table.hosts.size(); ++h)
    if (table.together[h] > 0) together.add(table.hosts[h], table.together[h]);
  return Json{{"schema", "grapevine.links/1"},
              {"hosts", Json(table.hosts)},
              {"links", links},
              {"together", together},
              {"findings", Json(table.findings)}};
}

LinkTable bench_links(const Assembly& fleet,
                      const LanOptions& options,
                      const LinkBenchOptions& bench) {
  return Bench(fleet, options, bench).run();
}

}  // namespace gv
