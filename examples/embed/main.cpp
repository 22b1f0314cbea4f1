// A fleet of two peers inside a program of one's own: described in code, rehearsed in virtual time,
// then run over TCP on loopback. Both end with the same bits.
#include <cstdio>
#include <exception>

#include <grapevine/grapevine.h>

int main() try {
  const grapevine::Fleet fleet(R"(
version: 1
seed: 7
peers: 2
data: { kind: digits, train: 2000, test: 500 }
model: { kind: mlp, hidden: [32] }
train: { optimizer: { kind: sgd, lr: 0.1 }, batch: 32 }
topology: ring
stop: { rounds: 150 }
evaluate: { every: 50 rounds }
)");
  const auto tell = [](const grapevine::Evaluation& e) {
    std::printf("  round %llu: accuracy %.4f\n", static_cast<unsigned long long>(e.round),
                e.accuracy.value_or(0));
  };
  std::printf("%u peers, %zu parameters, in virtual time\n", fleet.peers(), fleet.parameters());
  const grapevine::Outcome rehearsed = fleet.simulate(tell);
  std::printf("over TCP\n");
  const grapevine::Outcome real = fleet.run_on_loopback(tell);
  const bool same = real.params_hash == rehearsed.params_hash;
  std::printf("params %s, %s\n", real.params_hash.c_str(), same ? "the same in both" : "DIFFERENT");
  return same ? 0 : 1;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
