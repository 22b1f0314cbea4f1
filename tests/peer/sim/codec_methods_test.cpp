#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/sim/method_runs.h"

// Every method of the registry in the codecs that it accepts.

namespace gv {
namespace {

class InCodec : public testing::TestWithParam<const AlgorithmRow*> {
 protected:
  /// Equal Hessians and no noise, so that only losses of the codec show.
  static Fleet fleet(PeerId n = 8) {
    Fleet calm = row_fleet(*GetParam(), n);
    calm.data.quadratic.noise = 0;
    calm.optimizer.momentum = 0;
    calm.optimizer.lr = 0.002;
    calm.stop.rounds = 2000;
    return calm;
  }
};

double norm(const Values& v) {
  double squares = 0;
  for (const double value : v) squares += value * value;
  return std::sqrt(squares);
}

Values mean(const Result& result) {
  Values mean(result.x[0].size(), 0);
  for (const Values& x : result.x)
    for (std::size_t k = 0; k < x.size(); ++k)
      mean[k] += x[k] / static_cast<double>(result.x.size());
  return mean;
}

/// Returns the distance of the means of two fleets, relative to the length of the first.
double apart(const Result& a, const Result& b) {
  const Values from = mean(a);
  Values difference = mean(b);
  for (std::size_t k = 0; k < from.size(); ++k) difference[k] -= from[k];
  return norm(difference) / norm(from);
}

/// Each method ends near its result with floats. A codec that leaves out elements defers an error
/// as large as the rate. In an asynchronous method other bytes change the order of events.
TEST_P(InCodec, EndsWhereItEndsInFloats) {
  Fleet same = fleet();
  const Result floats = run(same);
  const double scatter = GetParam()->synchronous ? 0 : 0.08;
  for (Codec codec : codecs_of(*GetParam())) {
    codec.fraction = 0.5;
    SCOPED_TRACE(to_string(codec));
    same.codec = codec;
    EXPECT_LT(apart(floats, run(same)), scatter + (codec.dense() ? 0.02 : 0.1));
  }
}

/// An all-peer operation leaves equal bits at each peer, in a codec too.
TEST_P(InCodec, AgreesWhereItAgreesInFloats) {
  if (GetParam()->promise != Promise::agreement || GetParam()->mixes) return;
  // With these methods each peer mixes the sum into its own model.
  if (GetParam()->kind == "streaming-diloco" || GetParam()->kind == "eager-diloco") return;
  for (const PeerId n : {2U, 4U, 8U}) {
    for (const Codec& codec : codecs_of(*GetParam())) {
      SCOPED_TRACE(to_string(codec));
      Fleet agreeing = fleet(n);
      agreeing.stop.rounds = 20;
      agreeing.codec = codec;
      const Result result = run(agreeing);
      for (const Values& x : result.x) EXPECT_EQ(x, result.x[0]);
    }
  }
}

std::vector<const AlgorithmRow*> rows_with_codecs() {
  std::vector<const AlgorithmRow*> rows;
  std::ranges::copy_if(algorithms(), std::back_inserter(rows),
                       [](const AlgorithmRow* row) { return row->codecs != Codecs::none; });
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         InCodec,
                         testing::ValuesIn(rows_with_codecs()),
                         [](const auto& row) { return name_of(*row.param); });

/// The part that a codec leaves out of a push stays with its sender. The sum of all mass is
/// constant, and without gradients all peers reach the mean of the start.
TEST(Sgp, KeepsTheMassThatACodecLeavesOut) {
  std::vector<Values> start;
  for (std::size_t i = 0; i < 8; ++i) start.push_back({static_cast<double>(i), 1, -0.3, 100});
  for (const Codec::Kind kind : {Codec::Kind::fp16, Codec::Kind::bf16, Codec::Kind::int8}) {
    Fleet fleet = quadratic_fleet(8, "exponential", "sgp", "");
    fleet.data.quadratic.dimension = 4;
    fleet.data.quadratic.noise = 0;
    fleet.optimizer.lr = 1e-30;
    fleet.stop.rounds = 200;
    fleet.codec = Codec{.kind = kind};
    const Result result = run_from(fleet, start);
    Values mean(4, 0);
    for (const Values& x : result.x)
      for (std::size_t k = 0; k < 4; ++k) mean[k] += x[k] / 8;
    const Values sent{3.5, 1, -0.3, 100};
    expect_near(mean, sent, 2e-4);
  }
}

/// 16 bits take half the bytes, 8 bits a quarter. If elements are left out, models still come back
/// whole.
TEST(Servers, TakeFewerBytesInACodec) {
  const auto sent = [](PeerId peer, std::optional<Codec> codec) {
    Fleet fleet = restless(4, "parameter-server", "sync");
    fleet.data.quadratic.dimension = 100'000;
    fleet.codec = codec;
    const Assembly assembly(fleet);
    Observer observer(5, assembly.evaluator(), {});
    simulate(assembly, observer, SimulationOptions());
    return static_cast<double>(observer.finals().at(peer).costs.sent_bytes);
  };
  const Codec half{.kind = Codec::Kind::bf16};
  const Codec hundredth{.kind = Codec::Kind::top_k, .fraction = 0.01};
  const double worker = sent(0, {});
  const double server = sent(4, {});
  EXPECT_NEAR(sent(0, half) / worker, 0.5, 0.01);
  EXPECT_NEAR(sent(4, half) / server, 0.5, 0.01);
  EXPECT_NEAR(sent(0, hundredth) / worker, 0.02, 0.005);
  EXPECT_NEAR(sent(4, hundredth) / server, 1, 0.001);
}

}  // namespace
}  // namespace gv
