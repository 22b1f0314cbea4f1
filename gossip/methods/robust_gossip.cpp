#include <algorithm>

#include <fmt/format.h>

#include "gossip/registry.h"
#include "gossip/servers/robust_rules.h"

// Averaging when up to f = `liars` of each peer's neighbours may send anything. D-PSGD that adapts
// and combines; the combination is one of:
// nearest: the models of all neighbours except the f farthest from the own. On complete graphs all
//   that are left count alike: Farhadkhani, Guerraoui, Gupta, Hoang, Pinot & Stephan, "Robust
//   collaborative learning with linear gradient overhead", ICML 2023, arXiv:2209.10931 (NNA). On
//   other graphs they count by their weights in W, and the own model by the rest: Gaucher,
//   Dieuleveut & Hendrikx, "Unified breakdown analysis for Byzantine robust gossip", ICML 2025,
//   arXiv:2410.10418;
// trimmed-mean: in each coordinate the own value and those of the neighbours without the f largest
//   and the f smallest. Yang & Bajwa, "BRIDGE: Byzantine-resilient decentralized gradient descent",
//   2019, arXiv:1908.08098, BRIDGE-T;
// krum: the model, own one included, that is nearest to most others: BRIDGE-K there;
// nnm: nearest-neighbour mixing of all models, then their trimmed mean: Allouah et al. 2023.
// Halves travel as in any averaging, and move nothing: each end combines the received models by
// itself, so that no sum is kept, as in these papers. Memory of a peer: deg + 1 vectors. Per round
// and peer: deg messages out, 4 d deg bytes.

namespace gv {
namespace {

enum class Rule : std::uint8_t { nearest, trimmed_mean, krum, nnm };
constexpr std::string_view rules[] = {"nearest", "trimmed-mean", "krum", "nnm"};

constexpr Option robust_gossip_options[] = {
    {.name = "aggregate",
     .usual = 0,
     .least = 0,
     .most = 3,
     .whole = true,
     .help = "rule by which a peer combines its model with its neighbours' models",
     .words = rules},
    {.name = "liars",
     .usual = 1,
     .least = 0,
     .most = 1000,
     .whole = true,
     .help = "number of lying neighbours that a peer tolerates, f"}};

Rule rule_of(const Setup& setup) {
  return static_cast<Rule>(setup.settings.find("aggregate")->second);
}

std::size_t liars_of(const Setup& setup) {
  return static_cast<std::size_t>(setup.settings.find("liars")->second);
}

/// The models that a peer combines; its own one is the first.
struct Models {
  Vectors vectors;
  std::vector<float> weights;  ///< W_ij of each, without the own model
  bool of_all = false;         ///< the graph is complete

  Vectors others() const { return {vectors.begin() + 1, vectors.end()}; }
};

/// x_i + sum_j W_ij (x_j - x_i) over the neighbours that are left. On a complete graph they and the
/// own model count alike, 1 / (n - f) each: Farhadkhani et al. 2023, Algorithm 1.
void average_nearest(const Models& models, std::size_t liars, std::span<float> out) {
  const Vectors others = models.others();
  const std::span<const float> own = models.vectors[0];
  const std::size_t kept = others.size() > liars ? others.size() - liars : 0;
  std::ranges::copy(own, out.begin());
  for (const std::size_t j : nearest(others, own, kept)) {
    const float w = models.of_all ? 1 / static_cast<float>(kept + 1) : models.weights[j + 1];
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += w * (others[j][k] - own[k]);
  }
}

/// out <- the mean of the own model and the trimmed others; the own model if trimming leaves none.
void average_trimmed(const Models& models, std::size_t liars, std::span<float> out) {
  const Vectors others = models.others();
  const std::span<const float> own = models.vectors[0];
  std::ranges::copy(own, out.begin());
  if (others.size() <= 2 * liars) return;
  trimmed_mean(others, liars, out);
  const auto left = static_cast<float>(others.size() - 2 * liars);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = (own[k] + left * out[k]) / (1 + left);
}

void combine_models(const Models& models, Rule rule, std::size_t liars, std::span<float> out) {
  if (rule == Rule::nearest) return average_nearest(models, liars, out);
  if (rule == Rule::trimmed_mean) return average_trimmed(models, liars, out);
  if (rule == Rule::krum) {
    std::ranges::copy(models.vectors[krum(models.vectors, liars)], out.begin());
    return;
  }
  const std::vector<std::vector<float>> mixed = mixed_with_nearest(models.vectors, liars);
  trimmed_mean(Vectors(mixed.begin(), mixed.end()), liars, out);
}

/// Returns the models that came whole since then, ascending by peer, after the own model. Models
/// that are not finite are left out.
Task<std::vector<Payload>> came_since(Peer& me,
                                      std::map<PeerId, ExchangeNumber> before,
                                      std::vector<float>& weights) {
  const Range all{0, me.replica.size()};
  std::vector<Payload> models;
  Payload own = co_await me.snapshot(Vector::x, all);
  models.push_back(std::move(own));
  weights.assign(1, 0.0F);
  for (const auto& [j, number] : me.exchanges()) {
    if (number == before[j]) continue;
    Payload theirs = co_await me.snapshot(me.replica.vector("theirs", j), all);
    bool finite = true;
    co_await me.compute(static_cast<double>(all.count),
                        [&] { finite = all_finite(theirs->floats()); });
    if (!finite) continue;
    models.push_back(std::move(theirs));
    weights.push_back(static_cast<float>(me.plan.neighborhood.weight_of(j)));
  }
  co_return models;
}

Task<> robust_gossip(Peer& me) {
  const Setup& setup = *me.plan.setup;
  const Range all{0, me.replica.size()};
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();  // x_{t+1/2}
    const std::map<PeerId, ExchangeNumber> before = me.exchanges();
    co_await me.average();  // received models are in "theirs"
    Models models;
    models.of_all = me.plan.neighborhood.peers.size() + 1 == setup.peers;
    const std::vector<Payload> came = co_await came_since(me, before, models.weights);
    for (const Payload& model : came) models.vectors.push_back(model->floats());
    const auto next = me.pool().acquire(all.count * sizeof(float));
    const auto m = static_cast<double>(came.size());
    co_await me.compute(3 * m * m * static_cast<double>(all.count), [&] {
      combine_models(models, rule_of(setup), liars_of(setup), next->floats());
    });
    co_await me.load(Vector::x, all, next);
  }
}

Traffic robust_gossip_traffic(const Setup& setup) {
  return {.streams = {{.moves = {"flows that move nothing"}, .theirs = "theirs"}},
          .codec = setup.codec};
}

std::string robust_gossip_objection(const Setup& setup, const MixingMatrix* w) {
  if (setup.scheduled)
    return "robust-gossip compares the models of a peer's neighbours with each other, and this "
           "topology gives it others in each round: take a fixed topology, such as `complete`";
  if (w == nullptr) return "";
  const std::size_t least = 2 * liars_of(setup) + (rule_of(setup) == Rule::krum ? 2 : 1);
  for (PeerId i = 0; i < w->size(); ++i) {
    const std::size_t degree = w->row(i).peers.size();
    if (liars_of(setup) == 0 || degree >= least) continue;
    return fmt::format(
        "with `liars: {}` {} needs at least {} neighbours, and peer {} has {}: take fewer `liars`, "
        "or a topology of more edges, such as `complete`",
        liars_of(setup), rules[static_cast<std::size_t>(rule_of(setup))], least, i, degree);
  }
  return "";
}

}  // namespace

extern const AlgorithmRow robust_gossip_row{
    .kind = "robust-gossip",
    .run = robust_gossip,
    .mixes = true,
    .traffic = robust_gossip_traffic,
    .codecs = Codecs::none,
    .options = robust_gossip_options,
    .objection = robust_gossip_objection,
    .program = whole_steps,
    .promise = Promise::nothing,
    .summary =
        "D-PSGD that leaves out the farthest neighbours, or trims: against attackers; "
        "arXiv:2209.10931"};

}  // namespace gv
