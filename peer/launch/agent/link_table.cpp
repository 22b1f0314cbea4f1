#include "peer/launch/agent/link_table.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

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

}  // namespace gv
