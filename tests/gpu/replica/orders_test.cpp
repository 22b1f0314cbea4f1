#include <cstdlib>
#include <memory>
#include <string>

#include "tests/gpu/cases.h"

// Repeats a training round: the bits are the same in every order of its streams. A device has its
// own orders; CUDA on the host draws them (GV_HOST_ORDER=random).

namespace gv {
namespace {

/// Returns the number of repetitions, GRAPEVINE_ORDERS or 10; nightly a thousand.
int rounds() {
  const char* const value = std::getenv("GRAPEVINE_ORDERS");
  return value == nullptr ? 10 : std::stoi(value);
}

class Orders : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { GV_NEEDS_CUDA(cuda.missing()); }
};

/// Vectors from neighbours, in memory that is copied asynchronously.
struct Neighbours {
  explicit Neighbours(const Replica& replica) : pool(replica.buffer_memory()) {
    for (std::uint64_t j = 0; j < 3; ++j) {
      std::shared_ptr<Buffer> buffer = pool.acquire(replica.size() * sizeof(float));
      std::ranges::copy(normal(replica.size(), j), buffer->floats().begin());
      flows.vectors.push_back(std::move(buffer));
      flows.weights.push_back(0.2F);
    }
    const std::size_t half = replica.size() / 2;
    sent = pool.acquire(replica.size() * sizeof(float));
    first = pool.acquire(half * sizeof(float));
    second = pool.acquire((replica.size() - half) * sizeof(float));
  }
  BufferPool pool;
  Flows flows;
  std::shared_ptr<Buffer> sent, first, second;
};

/// Trains two rounds with an exchange and one without; returns what others and the ledger see.
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

/// Trains these rounds in pieces, as a peer does: data leave and arrive while the gradient is under
/// way, and one neighbour is late.
std::vector<double> train_overlapped(Replica& replica, Neighbours& neighbours) {
  const std::size_t half = replica.size() / 2;
  std::vector<double> seen;
  const auto see = [&seen](std::span<const float> some) {
    seen.insert(seen.end(), some.begin(), some.end());
  };
  const Range all{0, replica.size()};
  for (int round = 0; round < 2; ++round) {
    replica.overlap()->begin_gradient();
    replica.overlap()->stage(neighbours.flows.vectors[0]);
    replica.snapshot(Vector::x, {0, half}, *neighbours.first);
    replica.snapshot(Vector::x, {half, all.count - half}, *neighbours.second);
    replica.overlap()->stage(neighbours.flows.vectors[1]);
    replica.overlap()->end_gradient();
    seen.push_back(replica.loss());
    see(neighbours.first->floats());
    see(neighbours.second->floats());
    replica.mix_and_step(all, neighbours.flows);
  }
  replica.gradient_and_step();
  seen.push_back(replica.loss());
  see(values(replica));
  return seen;
}

std::unique_ptr<Replica> trained(const Case& row) {
  OptimizerSpec momentum;
  momentum.momentum = 0.9;
  const std::uint32_t batch = small_cases() ? 4 : 32;
  return cuda.make(row.network(), share_for(row.model.kind), momentum, batch, Rng(3));
}

TEST_P(Orders, OfAnOverlappedRoundChangeNoBit) {
  const auto replica = trained(GetParam());
  Neighbours neighbours(*replica);
  StateWriter start;
  replica->save(start);
  const std::vector<double> expected = train(*replica, neighbours);
  for (int again = 0; again < rounds(); ++again) {
    StateReader in(start.bytes());
    replica->restore(in);
    ASSERT_EQ(train_overlapped(*replica, neighbours), expected) << "time " << again;
  }
}

TEST_P(Orders, OfATrainingRoundChangeNoBit) {
  const auto replica = trained(GetParam());
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
