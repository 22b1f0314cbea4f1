#include "peer/cli/embed/grapevine.h"

#include <cstring>
#include <numeric>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace {

const std::string blobs =
    "version: 1\nseed: 3\npeers: 2\n"
    "data: { kind: blobs, train: 400, test: 100, separation: 8 }\nmodel: softmax\n"
    "train: { optimizer: { kind: sgd, lr: 0.1 }, batch: 8 }\ntopology: ring\n"
    "stop: { rounds: 60 }\nevaluate: { every: 20 rounds }\n";

TEST(Embedded, AFleetIsTheSameInVirtualTimeAndOnLoopback) {
  const grapevine::Fleet fleet(blobs);
  EXPECT_EQ(fleet.peers(), 2U);
  std::vector<std::uint64_t> rounds;
  const auto note = [&](const grapevine::Evaluation& e) { rounds.push_back(e.round); };
  const grapevine::Outcome simulated = fleet.simulate(note);
  EXPECT_EQ(rounds, (std::vector<std::uint64_t>{20, 40, 60}));
  EXPECT_GT(simulated.end.accuracy.value_or(0), 0.9);
  EXPECT_EQ(simulated.mean_model.size(), fleet.parameters());
  rounds.clear();
  const grapevine::Outcome real = fleet.run_on_loopback(note);
  EXPECT_EQ(rounds, (std::vector<std::uint64_t>{20, 40, 60}));
  EXPECT_EQ(real.params_hash, simulated.params_hash);
  EXPECT_EQ(real.mean_model, simulated.mean_model);
}

/// The two peers act as two programs would, each with its own fleet.
TEST(Embedded, TwoPeersFindEachOtherByTheirAddresses) {
  const grapevine::Fleet here(blobs), there(blobs);
  grapevine::Peer zero(here, 0), one(there, 1);
  const std::vector<grapevine::Address> all{{0, "127.0.0.1", zero.listen()},
                                            {1, "127.0.0.1", one.listen()}};
  std::vector<float> first, second;
  std::thread other([&] { second = one.run(all); });
  first = zero.run(all);
  other.join();
  ASSERT_EQ(first.size(), here.parameters());
  ASSERT_EQ(second.size(), here.parameters());
  const std::vector<float> mean = here.simulate().mean_model;
  for (std::size_t k = 0; k < mean.size(); ++k)
    EXPECT_NEAR((first[k] + second[k]) / 2, mean[k], 1e-6F) << k;
}

TEST(Embedded, WhatIsWrongIsSaid) {
  try {
    grapevine::Fleet("version: 1\npeers: 2\ntopolgy: ring\nstop: { rounds: 1 }\n");
    FAIL() << "an unknown key was taken";
  } catch (const std::invalid_argument& wrong) {
    EXPECT_NE(std::strstr(wrong.what(), "did you mean `topology`"), nullptr) << wrong.what();
  }
  const grapevine::Fleet fleet(blobs);
  EXPECT_THROW(grapevine::Peer(fleet, 2), std::invalid_argument);
  grapevine::Peer unbound(fleet, 0);
  EXPECT_THROW(unbound.run({}), std::logic_error);
  EXPECT_THROW(grapevine::Peer(fleet, 0, "/nowhere.pem").listen(), std::exception);
}

}  // namespace
