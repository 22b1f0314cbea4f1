#include <cstdlib>
#include <memory>
#include <string>

#include "tests/gpu/cases.h"

// A training round again and again: whatever order its streams are carried out in, the bits are the
// same. On a device the orders are its own; CUDA on the host draws them (GV_HOST_ORDER=random).

namespace gv {
namespace {

/// GRAPEVINE_ORDERS: how often; nightly a thousand times.
int rounds() {
  const char* const value = std::getenv("GRAPEVINE_ORDERS");
  return value == nullptr ? 10 : std::stoi(value);
}

class Orders : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { GV_NEEDS_CUDA(cuda.missing()); }
};

/// The vectors that neighbours sent, in memory that is copied behind the caller's back.
struct Neighbours {
  explicit Neighbours(const Replica& replica) : pool(replica.buffer_memory()) {
    for (std::uint64_t j = 0; j < 3; ++j) {
      std::shared_ptr<Buffer> buffer = pool.acquire(replica.size() * sizeof(float));
      std::ranges::copy(normal(replica.size(), j), buffer->floats().begin());
      flows.vectors.push_back(std::move(buffer));
      flows.weights.push_back(0.2F);
    }
    sent = pool.acquire(replica.size() * sizeof(float));
  }
  BufferPool pool;
  Flows flows;
  std::shared_ptr<Buffer> sent;
};

/// Two rounds with an exchange, one without; all that others and the books see of them.
std::vector<double> train(Replica& replica, Neighbours& neighbours) {
  const Range all{0, replica.size()};
  std::vector<double> seen;
  const auto see = [&seen](std::span<const float> some) {
    seen.insert(seen.end(), some.begin(), some.end());
  };
  for (int round = 0; round < 2; ++round) {
    replica.gradient();
    seen.push_back(replica.loss());
    replica.snapshot(Vector::x, all, *neighbours.sent);
    see(neighbours.sent->floats());
    replica.mix_and_step(all, neighbours.flows);
  }
  replica.gradient_and_step();
  seen.push_back(replica.loss());
  see(values(replica));
  return seen;
}

TEST_P(Orders, OfATrainingRoundChangeNoBit) {
  OptimizerSpec momentum;
  momentum.momentum = 0.9;
  const auto replica = cuda.make(GetParam().network(),
                                 share_for(GetParam().model.kind),
                                 momentum,
                                 small_cases() ? 4 : 32,
                                 Rng(3));
  Neighbours neighbours(*replica);
  StateWriter start;
  replica->save(start);
  const std::vector<double> first = train(*replica, neighbours);
  for (int again = 1; again < rounds(); ++again) {
    StateReader in(start.bytes());
    replica->restore(in);
    ASSERT_EQ(train(*replica, neighbours), first) << "time " << again;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Orders, testing::ValuesIn(cases()), [](const auto& row) {
  return row.param.name;
});

}  // namespace
}  // namespace gv
