#include "peer/study/predict/parallel/partition.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "optim/check.h"

namespace gv {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

class Search {
 public:
  explicit Search(const PartitionProblem& problem) : problem_(problem) {
    GV_CHECK_EQUAL(problem.crossing.size() + 1, problem.seconds.size(), "values behind each piece");
    before_.resize(problem.seconds.size() + 1);
    for (std::size_t k = 0; k < problem.seconds.size(); ++k)
      before_[k + 1] = before_[k] + problem.seconds[k];
  }

  /// Of pieces [first, end) at stage s.
  double stage(std::size_t s, std::size_t first, std::size_t end) const {
    return (before_[end] - before_[first]) / problem_.speeds[s];
  }

  /// What the slowest may take, ascending.
  std::vector<double> bounds() const {
    std::vector<double> all = problem_.crossing;
    for (std::size_t s = 0; s < problem_.speeds.size(); ++s)
      for (std::size_t first = 0; first < problem_.seconds.size(); ++first)
        for (std::size_t end = first + 1; end <= problem_.seconds.size(); ++end)
          all.push_back(stage(s, first, end));
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  }

  /// The shortest way of a microbatch on which nothing takes more than `bound`.
  std::optional<std::vector<std::size_t>> shortest(double bound) const {
    const std::size_t n = problem_.seconds.size();
    const std::size_t p = problem_.speeds.size();
    std::vector<double> least(n + 1, infinite);
    std::vector<std::vector<std::size_t>> from(p, std::vector<std::size_t>(n + 1));
    least[0] = 0;
    for (std::size_t s = 0; s < p; ++s) {
      std::vector<double> next(n + 1, infinite);
      for (std::size_t end = s + 1; end <= n; ++end) {
        const bool crosses = end < n;
        if (crosses && problem_.crossing[end - 1] > bound) continue;
        const double way = crosses ? 2 * problem_.crossing[end - 1] : 0;
        for (std::size_t first = s; first < end; ++first) {
          const double takes = stage(s, first, end);
          if (takes > bound || least[first] + takes + way >= next[end]) continue;
          next[end] = least[first] + takes + way;
          from[s][end] = first;
        }
      }
      least = std::move(next);
    }
    if (least[n] == infinite) return std::nullopt;
    std::vector<std::size_t> ends(p - 1);
    std::size_t end = n;
    for (std::size_t s = p; s-- > 1;) ends[s - 1] = end = from[s][end];
    return ends;
  }

 private:
  const PartitionProblem& problem_;
  std::vector<double> before_;
};

}  // namespace

double value_of(const PartitionProblem& problem, const std::vector<std::size_t>& ends) {
  const Search search(problem);
  double way = 0;
  double slowest = 0;
  std::size_t first = 0;
  for (std::size_t s = 0; s < problem.speeds.size(); ++s) {
    const std::size_t end = s < ends.size() ? ends[s] : problem.seconds.size();
    const double takes = search.stage(s, first, end);
    const double crossing = s < ends.size() ? problem.crossing[end - 1] : 0;
    way += takes + 2 * crossing;
    slowest = std::max({slowest, takes, crossing});
    first = end;
  }
  return way + (problem.microbatches - 1.0) * slowest;
}

std::vector<StageEnds> best_partitions(const PartitionProblem& problem, std::size_t most) {
  if (problem.speeds.size() > problem.seconds.size()) return {};
  const Search search(problem);
  std::vector<StageEnds> found;
  const auto by_value = [](const StageEnds& a, const StageEnds& b) { return a.value < b.value; };
  for (const double bound : search.bounds()) {
    const bool full = found.size() >= most;
    if (full && (problem.microbatches - 1.0) * bound > found.back().value) break;
    std::optional<std::vector<std::size_t>> ends = search.shortest(bound);
    if (!ends || std::ranges::find(found, *ends, &StageEnds::ends) != found.end()) continue;
    const double value = value_of(problem, *ends);
    found.push_back({std::move(*ends), value});
    std::ranges::stable_sort(found, by_value);
    if (found.size() > most) found.pop_back();
  }
  return found;
}

}  // namespace gv
