#include <array>

#include "optim/state.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/model/tensors/tensor_file.h"
#include "tests/peer/launch/launch_fixture.h"

// A fleet can grow: `run --resume RUN --set peers=5` continues with one more peer, and
// `stop.rounds` makes a run longer. The size of a fleet was once fixed for good.

namespace gv {
namespace {

class Growth : public Launch {
 protected:
  /// Trains a fleet for twenty rounds.
  Ended begin(const std::string& more, PeerId peers = 4) {
    const std::string path = this->path("fleet.yaml");
    std::ofstream(path) << "version: 1\nname: test\nseed: 5\npeers: " << peers
                        << "\nstop: { rounds: 20 }\ncheckpoint: { every: 10 rounds }\n"
                           "faults: { ledger: true }\nevaluate: { every: 10 rounds }\n"
                        << more << "output: { dir: " << this->path("run") << " }\n";
    return run({"run", path, "--json"});
  }
  Ended go_on(const std::vector<std::string>& sets) {
    std::vector<std::string> words{"run", "--resume", path("run"), "--json"};
    for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
    return run(words);
  }

  void expect_clean_books() const {
    const Ended audit = run({"audit", path("run-2")});
    EXPECT_EQ(audit.code, 0) << audit.output() << audit.err;
    EXPECT_NE(audit.output().find("0 findings"), std::string::npos) << audit.output();
  }

  /// Returns the model of a peer after round 20.
  std::vector<float> model_of(PeerId i, std::size_t d) const {
    std::ifstream in(path(fmt::format("run/peers/{:03}/checkpoints/00000020.ckpt", i)),
                     std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    Checkpoint past;
    EXPECT_EQ(decode(std::as_bytes(std::span(text)), past), "");
    StateReader state(past.state);
    state.name("x");
    std::vector<float> x(d);
    state.values(x);
    return x;
  }
};

const std::string quadratic =
    "data: { kind: quadratic, dimension: 8, noise: 1, spread: 2 }\nmodel: quadratic\n"
    "train: { optimizer: { kind: sgd, lr: 0.05 } }\n";
const std::string blobs =
    "data: { kind: blobs, train: 200, test: 100, features: 10 }\nmodel: softmax\n"
    "train: { optimizer: { kind: sgd, lr: 0.05, momentum: 0.9 }, batch: 8 }\n";

struct GrowingCase {
  std::string name, body;
  std::vector<std::string> sets;
};
class GrowingRuns : public Growth, public testing::WithParamInterface<GrowingCase> {};

TEST_P(GrowingRuns, GoOnWithOnePeerMoreAndCleanBooks) {
  ASSERT_EQ(begin(GetParam().body).code, 0);
  std::vector<std::string> sets{"peers=5", "stop.rounds=60"};
  sets.insert(sets.end(), GetParam().sets.begin(), GetParam().sets.end());
  const Ended grown = go_on(sets);
  ASSERT_EQ(grown.code, 0) << grown.err;
  EXPECT_EQ(grown.summary().at("peers"), 5);
  EXPECT_EQ(grown.summary().at("rounds"), 60);
  EXPECT_EQ(nlohmann::json::parse(grown.out.front()).at("round"), 30) << "it begins after 20";
  const bool averages = GetParam().body.find("topology") != std::string::npos;
  if (averages) expect_clean_books();
  std::ifstream metrics(path("run-2/metrics.jsonl"));
  std::string first;
  std::getline(metrics, first);
  EXPECT_EQ(nlohmann::json::parse(first).at("round"), 10) << "the curve is whole";
}

INSTANTIATE_TEST_SUITE_P(
    Methods,
    GrowingRuns,
    testing::Values(
        GrowingCase{"Ring", quadratic + "topology: ring\n", {}},
        GrowingCase{"Samples", blobs + "topology: ring\n", {}},
        GrowingCase{"ToAnotherGraph", blobs + "topology: path\n", {"topology=complete"}},
        GrowingCase{
            "Atc", quadratic + "algorithm: { kind: d-psgd, order: atc }\ntopology: star\n", {}},
        GrowingCase{"Schedule", quadratic + "topology: random-matching\n", {}},
        GrowingCase{"AllReduce", blobs + "algorithm: all-reduce\n", {}},
        GrowingCase{"LocalSgd", quadratic + "algorithm: local-sgd\n", {}},
        GrowingCase{"AdPsgd", quadratic + "algorithm: ad-psgd\n", {}}),
    [](const auto& fleet) { return fleet.param.name; });

/// Only averaging is left at a rate of zero. It ends at the mean of its beginning: the four models,
/// and once more the model of the new peer's first neighbour.
TEST_F(Growth, TheMeanIsThatOfTheModelsThatWere) {
  constexpr std::size_t d = 8;
  ASSERT_EQ(begin(quadratic + "topology: ring\n").code, 0);
  std::array<double, d> mean{};
  for (const PeerId i : {0U, 1U, 2U, 3U, 0U}) {
    const std::vector<float> x = model_of(i, d);
    for (std::size_t k = 0; k < d; ++k) mean.at(k) += static_cast<double>(x[k]) / 5;
  }
  const Ended grown = go_on({"peers=5", "stop.rounds=150", "train.optimizer.lr=0"});
  ASSERT_EQ(grown.code, 0) << grown.err;
  EXPECT_LT(grown.summary().at("consensus"), 1e-9);
  const std::vector<float> x = start_values(path("run-2/model.safetensors"), {{"x", {d}}});
  for (std::size_t k = 0; k < d; ++k) EXPECT_NEAR(x.at(k), mean.at(k), 1e-5) << k;
}

class LongerRuns : public Growth, public testing::WithParamInterface<GrowingCase> {};

/// If the peers stay the same, a longer run keeps all that the method remembers.
TEST_P(LongerRuns, HaveTheBitsOfARunThatWasLongFromTheBeginning) {
  ASSERT_EQ(begin(GetParam().body).code, 0);
  const Ended longer = go_on({"stop.rounds=50"});
  ASSERT_EQ(longer.code, 0) << longer.err;
  const Ended whole =
      run({"simulate", path("fleet.yaml"), "--no-save", "--json", "--set", "stop.rounds=50"});
  EXPECT_EQ(longer.summary().at("params_hash"), whole.summary().at("params_hash"));
  EXPECT_EQ(longer.summary().at("sent_bytes"), whole.summary().at("sent_bytes"));
}

INSTANTIATE_TEST_SUITE_P(
    Methods,
    LongerRuns,
    testing::Values(
        GrowingCase{"Samples", blobs + "topology: ring\n", {}},
        GrowingCase{"Tracking", quadratic + "algorithm: gradient-tracking\ntopology: ring\n", {}},
        GrowingCase{"Choco",
                    quadratic + "algorithm: { kind: choco-sgd, codec: int8 }\ntopology: ring\n",
                    {}},
        GrowingCase{"Servers", blobs + "algorithm: parameter-server\n", {}}),
    [](const auto& fleet) { return fleet.param.name; });

TEST_F(Growth, IsRefusedWithTheReason) {
  struct Refusal {
    std::string body;
    std::vector<std::string> sets;
    std::string why;
  };
  const std::vector<Refusal> refusals{
      {quadratic + "algorithm: gradient-tracking\ntopology: ring\n",
       {"peers=5", "stop.rounds=40"},
       "gradient-tracking keeps"},
      {quadratic + "algorithm: { kind: choco-sgd, codec: int8 }\ntopology: ring\n",
       {"topology=complete", "stop.rounds=40"},
       "choco-sgd keeps"},
      {quadratic + "algorithm: d2\ntopology: { kind: ring, weights: lazy }\n",
       {"peers=5", "stop.rounds=40"},
       "d2 keeps"},
      {blobs + "algorithm: parameter-server\n",
       {"peers=5", "stop.rounds=40"},
       "a fleet with servers does not grow"},
      {quadratic + "topology: ring\n", {"peers=3", "stop.rounds=40"}, "4 peers resumes as 3"},
      {quadratic + "topology: ring\n", {"data.noise=0"}, "`data.noise` is part of what"},
      {quadratic + "topology: ring\n", {"peers=5"}, "--set stop.rounds=N"}};
  for (const Refusal& refusal : refusals) {
    std::filesystem::remove_all(path("run"));
    ASSERT_EQ(begin(refusal.body).code, 0) << refusal.body;
    const Ended refused = go_on(refusal.sets);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_NE(refused.err.find(refusal.why), std::string::npos) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(path("run-2")));
  }
}

}  // namespace
}  // namespace gv
