#include "peer/record/report/edges.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace gv {
namespace {

std::string list(const std::set<Edge>& edges) {
  constexpr std::size_t most = 8;
  std::string text;
  for (auto at = edges.begin(); at != edges.end(); ++at) {
    if (std::distance(edges.begin(), at) == most)
      return text + fmt::format(" and {} more", edges.size() - most);
    text += fmt::format(" {}-{}", at->first, at->second);
  }
  return text;
}

}  // namespace

std::string edges_text(const std::set<Edge>& all, const std::set<Edge>& shared) {
  if (shared.empty()) return fmt::format("{} edges, all over TCP", all.size());
  std::set<Edge> others;
  std::ranges::set_difference(all, shared, std::inserter(others, others.end()));
  if (others.empty()) return fmt::format("{} edges, all in shared memory", all.size());
  const bool few = others.size() <= shared.size();
  return fmt::format("{} edges, {} in shared memory and {} over TCP; {}:{}", all.size(),
                     all.size() - others.size(), others.size(),
                     few ? "over TCP" : "in shared memory", list(few ? others : shared));
}

}  // namespace gv
