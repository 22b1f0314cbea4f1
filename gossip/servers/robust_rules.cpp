#include "gossip/servers/robust_rules.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "gossip/servers/servers.h"
#include "optim/host/dot.h"

namespace gv {
namespace {

/// Returns the distances to each of the vectors, from one.
std::vector<double> distances(const Vectors& vectors, std::span<const float> one) {
  std::vector<double> squares;
  for (const std::span<const float> vector : vectors)
    squares.push_back(square_distance(vector, one));
  return squares;
}

std::vector<float> mean(const Vectors& vectors, const std::vector<std::size_t>& of) {
  std::vector<float> out(vectors[0].size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    double sum = 0;
    for (const std::size_t i : of) sum += static_cast<double>(vectors[i][k]);
    out[k] = static_cast<float>(sum / static_cast<double>(of.size()));
  }
  return out;
}

std::size_t liars_of(const Setup& setup) {
  return static_cast<std::size_t>(setup.settings.find("liars")->second);
}

void stand_for(const Vectors& vectors, Aggregate rule, std::size_t liars, std::span<float> out) {
  switch (rule) {
    case Aggregate::mean:
      return trimmed_mean(vectors, 0, out);
    case Aggregate::krum:
      std::ranges::copy(vectors[krum(vectors, liars)], out.begin());
      return;
    case Aggregate::trimmed_mean:
      return trimmed_mean(vectors, liars, out);
    case Aggregate::nnm:
      const std::vector<std::vector<float>> mixed = mixed_with_nearest(vectors, liars);
      return trimmed_mean(Vectors(mixed.begin(), mixed.end()), liars, out);
  }
}

}  // namespace

std::size_t krum(const Vectors& vectors, std::size_t liars) {
  const std::size_t m = vectors.size();
  const std::size_t near = m > liars + 2 ? m - liars - 2 : 1;
  std::size_t best = 0;
  double least = unbounded;
  for (std::size_t i = 0; i < m; ++i) {
    std::vector<double> squares = distances(vectors, vectors[i]);
    squares.erase(squares.begin() + static_cast<std::ptrdiff_t>(i));
    std::ranges::sort(squares);
    squares.resize(std::min(near, squares.size()));
    const double score = std::accumulate(squares.begin(), squares.end(), 0.0);
    if (score >= least) continue;
    least = score;
    best = i;
  }
  return best;
}

void trimmed_mean(const Vectors& vectors, std::size_t liars, std::span<float> out) {
  const std::size_t m = vectors.size();
  const std::size_t trimmed = std::min(liars, (m - 1) / 2);
  std::vector<float> values(m);
  for (std::size_t k = 0; k < out.size(); ++k) {
    for (std::size_t i = 0; i < m; ++i) values[i] = vectors[i][k];
    std::ranges::sort(values);
    double sum = 0;
    for (std::size_t i = trimmed; i < m - trimmed; ++i) sum += static_cast<double>(values[i]);
    out[k] = static_cast<float>(sum / static_cast<double>(m - 2 * trimmed));
  }
}

std::vector<std::size_t> nearest(const Vectors& vectors,
                                 std::span<const float> one,
                                 std::size_t count) {
  const std::vector<double> squares = distances(vectors, one);
  std::vector<std::size_t> places(vectors.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, {}, [&](std::size_t i) { return squares[i]; });
  places.resize(std::min(count, places.size()));
  std::ranges::sort(places);
  return places;
}

std::vector<std::vector<float>> mixed_with_nearest(const Vectors& vectors, std::size_t liars) {
  const std::size_t m = vectors.size();
  const std::size_t near = m > liars ? m - liars : 1;
  std::vector<std::vector<float>> mixed;
  for (const std::span<const float> one : vectors)
    mixed.push_back(mean(vectors, nearest(vectors, one, near)));
  return mixed;
}

Aggregate aggregate_of(const Setup& setup) {
  const auto chosen = setup.settings.find("aggregate");
  if (chosen == setup.settings.end()) return Aggregate::mean;
  return static_cast<Aggregate>(chosen->second);
}

std::string aggregate_objection(const Setup& setup, std::size_t count) {
  const Aggregate rule = aggregate_of(setup);
  if (rule == Aggregate::mean) return "";
  const bool whole_vectors = rule == Aggregate::krum || rule == Aggregate::nnm;
  const std::string_view word = aggregates[static_cast<std::size_t>(rule)];
  if (whole_vectors && setup.servers > 1)
    return fmt::format(
        "{} compares distances between whole vectors, but each of these {} servers has only a "
        "part: take `servers: 1`, or `aggregate: trimmed-mean`",
        word, setup.servers);
  const std::size_t liars = liars_of(setup);
  const std::size_t least = 2 * liars + (rule == Aggregate::krum ? 3 : 1);
  if (count >= least) return "";
  return fmt::format(
      "with `liars: {}` {} needs at least {} contributions a round, and here are {}: take fewer "
      "`liars`",
      liars, word, least, count);
}

Task<bool> aggregate(Peer& me, Vector v, std::map<PeerId, Payload> came) {
  Vectors vectors;
  for (const auto& [worker, vector] : came)
    if (vector) vectors.push_back(vector->floats());
  if (vectors.empty()) co_return false;
  const Setup& setup = *me.plan.setup;
  const auto one = me.pool().acquire(vectors[0].size_bytes());
  const auto m = static_cast<double>(vectors.size());
  co_await me.compute(3 * m * m * static_cast<double>(me.replica.size()), [&] {
    stand_for(vectors, aggregate_of(setup), liars_of(setup), one->floats());
  });
  co_await me.load(v, whole(me), one);
  co_return true;
}

}  // namespace gv
