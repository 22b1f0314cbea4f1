#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"
#include "tests/places.h"

// A fleet ends with the same bits over TCP and in virtual time, whatever number of threads its
// peers have. These tests are run once for each instruction set of the machine and for several
// values of OMP_NUM_THREADS: see CMakeLists.txt.

namespace gv {
namespace {

struct Shape {
  std::uint32_t hidden, batch;
};

/// Two peers on the built-in digits.
Fleet small_fleet(const std::string& model, std::uint32_t batch) {
  Fleet fleet = quadratic_fleet(2, "complete", "d-psgd", "lian");
  fleet.data = {};
  fleet.data.train = 200;
  fleet.data.test = 30;
  fleet.model.kind = model;
  fleet.model.values.clear();
  fleet.optimizer.lr = 0.01;
  for (PeerSpec& peer : fleet.peers) peer.batch = batch;
  return fleet;
}

std::string hash_over_tcp(Fleet file, std::array<int, 2> threads) {
  for (std::size_t i = 0; i < threads.size(); ++i) file.peers[i].threads = threads[i];
  const Assembly assembly(file);
  LoopbackFleet fleet(assembly);
  fleet.run();
  return fleet.observer.params_hash();
}

void expect_equal_bits(const Fleet& fleet) {
  SCOPED_TRACE(testing::Message() << fleet.model.kind << ", batch " << fleet.peers[0].batch);
  const std::string simulated = in_virtual_time(Assembly(fleet)).hash;
  EXPECT_EQ(hash_over_tcp(fleet, {1, 1}), simulated);
  EXPECT_EQ(hash_over_tcp(fleet, {2, 4}), simulated);
}

TEST(EqualBits, OfPerceptrons) {
  for (const auto& [hidden, batch] : std::vector<Shape>{
           {1, 1},    {2, 65},  {5, 37},   {8, 17},   {9, 2},    {16, 16},  {17, 8},   {23, 64},
           {31, 31},  {32, 32}, {37, 5},   {40, 63},  {48, 48},  {50, 10},  {63, 33},  {64, 3},
           {65, 65},  {77, 11}, {96, 24},  {100, 1},  {127, 29}, {128, 64}, {150, 50}, {191, 13},
           {200, 20}, {233, 7}, {256, 65}, {277, 40}, {299, 61}, {300, 64}}) {
    SCOPED_TRACE(testing::Message() << "hidden " << hidden);
    Fleet fleet = small_fleet("mlp", batch);
    fleet.model.values["hidden"] = Widths{hidden};
    expect_equal_bits(fleet);
  }
}

TEST(EqualBits, OfADeepPerceptron) {
  Fleet fleet = small_fleet("mlp", 64);
  fleet.model.values["hidden"] = Widths{300, 200, 100};
  expect_equal_bits(fleet);
}

TEST(EqualBits, OfSoftmax) {
  for (const std::uint32_t batch : {1U, 7U, 64U}) expect_equal_bits(small_fleet("softmax", batch));
}

TEST(EqualBits, OfLenet5) {
  for (const std::uint32_t batch : {1U, 5U, 32U, 65U})
    expect_equal_bits(small_fleet("lenet5", batch));
}

TEST(EqualBits, OfResnet20) {
  for (const auto& [norm, batch] : {std::pair{"batch", 3U}, std::pair{"group", 9U}}) {
    Fleet fleet = small_fleet("resnet20", batch);
    fleet.model.values["norm"] = std::string(norm);
    fleet.stop.rounds = 2;
    expect_equal_bits(fleet);
  }
}

TEST(EqualBits, OfTransformers) {
  for (const auto& [width, batch] : std::vector<Shape>{{16, 1}, {32, 9}, {48, 33}}) {
    SCOPED_TRACE(testing::Message() << "width " << width);
    Fleet fleet = small_fleet("transformer", batch);
    fleet.data.kind = "text";
    fleet.data.file = source_folder() + "/LICENSE";
    fleet.data.context = 16;
    fleet.model.values["width"] = width;
    fleet.model.values["heads"] = 2U;
    fleet.model.values["layers"] = 1U;
    expect_equal_bits(fleet);
  }
}

}  // namespace
}  // namespace gv
