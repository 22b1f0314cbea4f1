#include "tests/peer/sim/method_runs.h"

// The four orders of all-reduce, compared with each other and with sums by hand.

namespace gv {
namespace {

TEST(OrdersOfAllReduce, ItsOrdersAgree) {
  const Result ring = run(restless(8, "all-reduce", "ring"));
  for (const char* order : {"driver", "doubling", "hierarchical"}) {
    SCOPED_TRACE(order);
    Fleet fleet = restless(8, "all-reduce", order);
    fleet.hosts = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    const char* hosts[] = {"a", "b", "b", "a", "c", "b", "a", "b"};
    for (PeerId i = 0; i < 8; ++i) fleet.peers[i].host = hosts[i];
    const Result other = run(fleet);
    expect_near(other, ring, 1e-5);
    for (const Values& x : other.x) EXPECT_EQ(x, other.x[0]) << "all hold the same bits";
  }
}

/// One round through the driver, by hand: gradients are summed from peer 0 on.
TEST(OrdersOfAllReduce, TheDriversSumIsThePlainOne) {
  for (const std::uint32_t d : {3U, 300'000U}) {  // more than two pieces
    Fleet fleet = restless(5, "all-reduce", "driver");
    fleet.data.quadratic.dimension = d;
    fleet.stop.rounds = 1;
    const Assembly assembly(fleet);
    std::vector<float> sum(d, 0);
    Buffer copy(d * sizeof(float));
    for (PeerId i = 0; i < 5; ++i) {
      const auto replica = assembly.host_replica(i);
      replica->gradient();
      replica->snapshot(Vector::g, {0, d}, copy);
      for (std::size_t k = 0; k < d; ++k)
        sum[k] = i == 0 ? copy.floats()[k] : sum[k] + copy.floats()[k];
    }
    const auto replica = assembly.host_replica(0);
    for (std::size_t k = 0; k < d; ++k) copy.floats()[k] = sum[k] * (1.0F / 5.0F);
    replica->load(Vector::g, {0, d}, copy);
    replica->step();
    replica->snapshot(Vector::x, {0, d}, copy);
    const Values expected(copy.floats().begin(), copy.floats().end());
    for (const Values& x : run(fleet).x) EXPECT_EQ(x, expected);
  }
}

TEST(OrdersOfAllReduce, RefusesWhatItCannotDo) {
  EXPECT_NE(refusal(restless(6, "all-reduce", "doubling")).find("power of two peers, not 6"),
            std::string::npos);
  EXPECT_EQ(refusal(restless(8, "all-reduce", "doubling")), "");
  for (const char* order : {"ring", "driver", "doubling", "hierarchical"}) {
    Fleet fleet = restless(8, "all-reduce", order);
    fleet.local_steps = 2;
    EXPECT_NE(refusal(fleet).find("local_steps must be 1"), std::string::npos);
  }
}

/// With d large, frames weigh little compared with models: m = 4 d bytes.
TEST(OrdersOfAllReduce, BytesAreAsPredicted) {
  constexpr double d = 1'000'000;
  const auto models_sent = [&](const char* order, const std::vector<const char*>& hosts) {
    Fleet fleet = restless(8, "all-reduce", order);
    fleet.data.quadratic.dimension = static_cast<std::uint32_t>(d);
    fleet.stop.rounds = 2;
    for (const char* host : {"a", "b"}) fleet.hosts.push_back({.name = host});
    for (PeerId i = 0; i < hosts.size(); ++i) fleet.peers[i].host = hosts[i];
    const Assembly assembly(fleet);
    Observer observer(8, assembly.evaluator(), {});
    simulate(assembly, observer, {});
    return static_cast<double>(observer.summary()->costs.sent_bytes) / 2 / (4 * d);
  };
  EXPECT_NEAR(models_sent("ring", {}), 8 * 2 * 7.0 / 8, 0.01);
  EXPECT_NEAR(models_sent("driver", {}), 7 + 7, 0.01);
  EXPECT_NEAR(models_sent("doubling", {}), 8 * 3, 0.01);
  // On both machines three models to the first peer and back, and a ring of the two first peers.
  EXPECT_NEAR(models_sent("hierarchical", {"a", "a", "a", "a", "b", "b", "b", "b"}),
              2 * (3 + 3) + 2 * 2 * 1.0 / 2, 0.01);
}

}  // namespace
}  // namespace gv
