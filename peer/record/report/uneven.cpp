#include "peer/record/report/uneven.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/record/report/wrapped.h"

namespace gv {
namespace {

constexpr std::size_t most_named = 5;
constexpr std::size_t indent = 11;

}  // namespace

std::string uneven_text(const std::vector<UnevenEdge>& edges) {
  if (edges.empty()) return "";
  std::vector<std::string> named;
  for (const UnevenEdge& edge : edges) {
    if (named.size() == most_named) break;
    named.push_back(fmt::format("{} of peers {} and {}",
                                std::min(edge.at_a.exchange, edge.at_b.exchange).value,
                                edge.a,
                                edge.b));
  }
  const std::size_t others = edges.size() - named.size();
  return wrapped(
      fmt::format(
          "uneven     counted at one end only, because the other end gave it up: exchange {}"
          "{}. The mean of the models is not what their steps made it",
          fmt::join(named, ", "),
          others > 0 ? fmt::format(", and {} more", others) : ""),
      indent);
}

Json uneven_json(const std::vector<UnevenEdge>& edges) {
  Json rows = Json::array();
  for (const UnevenEdge& e : edges)
    rows.push_back(Json{
        {"peers", std::vector<PeerId>{e.a, e.b}},
        {"exchanges", std::vector<std::uint64_t>{e.at_a.exchange.value, e.at_b.exchange.value}},
        {"pieces", std::vector<std::uint32_t>{e.at_a.pieces, e.at_b.pieces}}});
  return rows;
}

}  // namespace gv
