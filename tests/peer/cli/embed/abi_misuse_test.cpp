#include <array>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/peer/cli/embed/abi_fleet.h"
#include "tests/scratch_folder.h"

// Wrong calls of the C interface. Each returns its code and a text with a remedy, and the peer
// continues.

namespace gv {
namespace {

const std::string four = QuadraticText{}.program();

std::string error() {
  return gv_error(nullptr);
}

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "`" << part << "` is not in: " << text;
}

int open_code(const std::string& json) {
  gv_peer* peer = nullptr;
  const int code = gv_open(json.c_str(), &peer);
  EXPECT_EQ(peer != nullptr, code == GV_OK);
  gv_close(peer);
  return code;
}

TEST(AbiOpen, TheInterfaceIsTheFirst) {
  EXPECT_EQ(gv_abi(), GV_ABI);
}

TEST(AbiOpen, WordsThatAreWrongAreNamed) {
  EXPECT_EQ(gv_open("{}", nullptr), GV_E_USE);
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"{", "gv_open"},
      {"[]", "no JSON object"},
      {R"({"flet": "x.yaml"})", "`flet` is not one of"},
      {R"({"id": -1})", "`id` must be a whole number"},
      {R"({"text": "version: 1", "fleet": "x.yaml"})", "give one"},
      {R"({"listen": "27000"})", "`listen` must be an address and a port"},
      {R"({"listen": "127.0.0.1:99999"})", "`listen` must be an address and a port"},
      {R"({"task": "train"})", "peer, ask, measure"},
      {R"({"wait": "long"})", "`wait` must be a number"},
      {R"({"rejoin": 1})", "true or false"},
      {R"({"rejoin": true, "from": 3})", "exclude each other"}};
  for (const auto& [json, says] : wrong) {
    EXPECT_EQ(open_code(json), GV_E_USE) << json;
    EXPECT_TRUE(has(error(), says)) << json;
  }
}

TEST(AbiOpen, FleetsThatCannotBeAreShownWithTheirLines) {
  EXPECT_EQ(open_code(R"({"fleet": "there/is/none.yaml", "id": 0})"), GV_E_FLEET);
  EXPECT_TRUE(has(error(), "there/is/none.yaml"));
  EXPECT_EQ(open_code(abi_words("version: 1\npers: 2\n", 0)), GV_E_FLEET);
  EXPECT_TRUE(has(error(), "did you mean `peers`?"));
  EXPECT_EQ(open_code(abi_words(four, 4)), GV_E_USE);
  EXPECT_TRUE(has(error(), "0 .. 3"));
  const QuadraticText flexrr{.kind = "flexrr"};
  EXPECT_EQ(open_code(abi_words(flexrr.program(), 0)), GV_E_FLEET);
  EXPECT_TRUE(has(error(), "take `parameter-server`"));
  const QuadraticText eamsgd{.kind = "easgd, alpha: 0.1, momentum: 0.9"};
  EXPECT_EQ(open_code(abi_words(eamsgd.program(), 0)), GV_E_FLEET);
  EXPECT_TRUE(has(error(), "the program takes its own"));
}

TEST(AbiOpen, APeerKnowsItsPlace) {
  const AbiHandle peer =
      abi_open(abi_words(QuadraticText{.kind = "slowmo", .local_steps = 2}.program(), 2));
  ASSERT_TRUE(peer) << error();
  const std::string info = abi_info(peer.get());
  for (const char* part :
       {R"("task":"peer")", R"("id":2)", R"("peers":4)", R"("local_id":2)", R"("local_peers":4)",
        R"("turns":["gradient","step"])", R"("gradients":"kept")", R"("rate":true)",
        R"("local_steps":2)", R"("rounds":6)"})
    EXPECT_TRUE(has(info, part));
  char small[20];
  EXPECT_EQ(gv_info(peer.get(), small, sizeof small), GV_E_ROOM);
}

/// Each row has a tensor, its fault, and part of the error text.
TEST(AbiAttach, TensorsThatCannotTravelAreNamed) {
  const AbiHandle peer = abi_open(abi_words(four, 0));
  ASSERT_TRUE(peer) << error();
  alignas(8) float data[64] = {};
  auto* const odd = reinterpret_cast<char*>(data) + 2;
  const std::int64_t shape[] = {4, 3}, minus[] = {4, -3}, huge[] = {1LL << 31, 1LL << 31};
  const std::int64_t wraps[] = {1LL << 31, 16, 1LL << 29};  // 2^64 elements
  const std::int64_t expanded[] = {0, 1}, gaps[] = {6, 1}, overlap[] = {2, 1};
  const auto tensor = [&](const char* name, const char* type, const std::int64_t* s,
                          const std::int64_t* strides,
                          void* at) { return gv_tensor{name, type, 2, s, strides, at}; };
  const std::vector<std::pair<gv_tensor, std::string>> wrong{
      {tensor("fc.weight", "float16", shape, nullptr, data), "fc.weight is float16"},
      {tensor("fc.weight", "complex64", shape, nullptr, data), "complex64"},
      {tensor("fc.weight", nullptr, shape, nullptr, data), "no type"},
      {tensor("", "float32", shape, nullptr, data), "name of 0 bytes"},
      {tensor("fc.weight", "float32", minus, nullptr, data), "dimension of -3"},
      {tensor("fc.weight", "float32", huge, nullptr, data), "more than"},
      {{"fc.weight", "float32", 3, wraps, nullptr, data}, "more than"},
      {tensor("fc.weight", "float32", nullptr, nullptr, data), "dimensions"},
      {tensor("fc.weight", "float32", shape, expanded, data), "is expanded"},
      {tensor("fc.weight", "float32", shape, overlap, data), "is expanded"},
      {tensor("fc.weight", "float32", shape, gaps, data), "has gaps"},
      {tensor("fc.weight", "float32", shape, nullptr, nullptr), "has no memory"},
      {tensor("fc.weight", "float32", shape, nullptr, odd), "multiple of 4"}};
  for (const auto& [bad, says] : wrong) {
    EXPECT_EQ(gv_attach(peer.get(), &bad, 1, nullptr), GV_E_TENSORS) << says;
    EXPECT_TRUE(has(error(), says));
  }
  gv_tensor twice[] = {tensor("a", "float32", shape, nullptr, data),
                       tensor("a", "float32", shape, nullptr, data + 12)};
  EXPECT_EQ(gv_attach(peer.get(), twice, 2, nullptr), GV_E_TENSORS);
  EXPECT_TRUE(has(error(), "a is there twice"));
  gv_tensor tied[] = {tensor("a", "float32", shape, nullptr, data),
                      tensor("b", "float32", shape, nullptr, data + 11)};
  EXPECT_EQ(gv_attach(peer.get(), tied, 2, nullptr), GV_E_TENSORS);
  EXPECT_TRUE(has(error(), "b lies in the same memory as a"));
  EXPECT_EQ(gv_attach(peer.get(), nullptr, 0, nullptr), GV_E_TENSORS);
  EXPECT_EQ(gv_attach(peer.get(), tied, 1, R"({"evaluate": true})"), GV_E_USE);
  EXPECT_GT(gv_attach(peer.get(), tied, 1, nullptr), 0) << error();
}

/// A channels_last tensor has the same shape but another memory order, so the model differs.
TEST(AbiAttach, TheOrderInMemoryIsPartOfTheModel) {
  std::vector<std::string> models;
  float data[24] = {};
  const std::int64_t shape[] = {1, 2, 3, 4}, last[] = {24, 1, 8, 2};
  for (const std::int64_t* const strides : {static_cast<const std::int64_t*>(nullptr), last}) {
    const AbiHandle peer = abi_open(abi_words(four, 0));
    const gv_tensor tensor{"conv", "float32", 4, shape, strides, data};
    ASSERT_GT(gv_attach(peer.get(), &tensor, 1, nullptr), 0) << error();
    const std::string info = abi_info(peer.get());
    models.push_back(info.substr(info.find("\"model\":"), 44));
  }
  EXPECT_NE(models[0], models[1]);
}

TEST(AbiOrder, CallsOutOfOrderChangeNothing) {
  const AbiHandle peer = abi_open(abi_words(four, 0));
  float x[4] = {1, 2, 3, 4};
  void* const at[] = {x};
  const std::int64_t shape[] = {4};
  const gv_tensor tensor{"x", "float32", 1, shape, nullptr, x};
  EXPECT_EQ(gv_turn(peer.get(), nullptr, 0), GV_E_USE);
  EXPECT_TRUE(has(error(), "gv_attach"));
  EXPECT_EQ(gv_begin(peer.get(), "[]"), GV_E_USE);
  EXPECT_EQ(gv_point(peer.get(), GV_POINT_GRADIENTS, at, 1), GV_E_USE);
  ASSERT_GT(gv_attach(peer.get(), &tensor, 1, nullptr), 0) << error();
  EXPECT_EQ(gv_turn(peer.get(), nullptr, 0), GV_E_USE);
  EXPECT_TRUE(has(error(), "gv_begin"));
  EXPECT_EQ(gv_begin(peer.get(), "[]"), GV_E_USE);
  EXPECT_TRUE(has(error(), "peer 1 is a neighbour of peer 0"));
  EXPECT_EQ(gv_begin(peer.get(), R"([{"peer": 1, "host": "127.0.0.1"}])"), GV_E_USE);
  EXPECT_EQ(gv_point(peer.get(), GV_POINT_GRADIENTS, at, 2), GV_E_DISAGREES);
  EXPECT_EQ(gv_point(peer.get(), 7, at, 1), GV_E_USE);
  EXPECT_EQ(gv_point(peer.get(), GV_POINT_PARAMETERS, nullptr, 1), GV_E_USE);
  std::size_t bytes = 4;
  EXPECT_EQ(gv_state(peer.get(), 1, x, &bytes), GV_E_USE);
  EXPECT_TRUE(has(error(), "GV_TURN_SAVE"));
  EXPECT_EQ(gv_state(peer.get(), 0, nullptr, nullptr), GV_E_USE);
  EXPECT_EQ(gv_say(peer.get(), R"({"log": {"loss": "small"}})"), GV_E_USE);
  EXPECT_EQ(gv_fork(peer.get(), 9), GV_E_USE);
  EXPECT_EQ(gv_finish(peer.get(), 0), GV_OK) << "it never began";
  EXPECT_EQ(gv_info(nullptr, nullptr, 0), GV_E_USE);
  EXPECT_EQ(gv_turn(nullptr, nullptr, 0), GV_E_USE);
  gv_turn_ended(nullptr);
  gv_close(nullptr);
}

TEST(AbiOrder, ASecondThreadIsRefused) {
  const AbiHandle peer = abi_open(abi_words(four, 0));
  int code = 0;
  std::string why;
  std::thread([&] {
    code = gv_turn(peer.get(), nullptr, 0);
    why = error();
    EXPECT_EQ(gv_say(peer.get(), "{}"), GV_OK) << error();
  }).join();
  EXPECT_EQ(code, GV_E_THREAD);
  EXPECT_TRUE(has(why, "not the thread"));
}

/// A turn that ends without a required value is refused with a reason, and the turn continues.
TEST(AbiTurn, WhatTheMethodNeedsMustBeTold) {
  AbiFleet fleet({.kind = "quasi-global-momentum", .rounds = 2});
  fleet.before = [first = std::array<bool, 4>{}](PeerId id, gv_peer* peer, int turn) mutable {
    if (turn != GV_TURN_GRADIENT || std::exchange(first[id], true)) return true;
    gv_told told{sizeof(gv_told), GV_HAS_RATE, 0, 0.5, 0, 0, 0};
    EXPECT_EQ(gv_turn(peer, &told, 0), GV_E_USE);
    EXPECT_TRUE(has(error(), "gv_point comes before"));
    told.rate = 0;
    EXPECT_EQ(gv_turn(peer, &told, 0), GV_E_USE);
    told.has = GV_HAS_ACCURACY;
    told.accuracy = 1.5;
    EXPECT_EQ(gv_turn(peer, &told, 0), GV_E_USE);
    told.has = 1U << 20;
    EXPECT_EQ(gv_turn(peer, &told, 0), GV_E_USE);
    told.size = 8;
    EXPECT_EQ(gv_turn(peer, &told, 0), GV_E_USE);
    EXPECT_EQ(gv_turn(peer, nullptr, 0), GV_TURN_GRADIENT) << error();
    return true;
  };
  fleet.run();
  for (PeerId i = 0; i < 4; ++i) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
}

/// Each row goes to exactly one peer, by number or by class, and all peers agree on it.
TEST(AbiRows, EachSampleIsOnePeers) {
  const std::string by_class =
      QuadraticText{
          .more = "data: { kind: digits, partition: { kind: by-label, classes_per_peer: 2 } }\n"}
          .program();
  std::vector<std::int32_t> labels(100);
  for (std::size_t k = 0; k < labels.size(); ++k) labels[k] = static_cast<std::int32_t>(k % 10);
  for (const std::string& text : {four, by_class}) {
    std::vector<int> owners(labels.size());
    for (PeerId i = 0; i < 4; ++i) {
      const AbiHandle peer = abi_open(abi_words(text, i));
      ASSERT_TRUE(peer) << error();
      std::size_t count = 0;
      ASSERT_EQ(gv_rows(peer.get(), labels.data(), labels.size(), nullptr, &count), GV_OK)
          << error();
      std::vector<std::uint32_t> rows(count);
      std::size_t room = count - 1;
      EXPECT_EQ(gv_rows(peer.get(), labels.data(), labels.size(), rows.data(), &room), GV_E_ROOM);
      ASSERT_EQ(gv_rows(peer.get(), labels.data(), labels.size(), rows.data(), &count), GV_OK);
      for (const std::uint32_t row : rows) ++owners.at(row);
    }
    for (const int owner : owners) EXPECT_EQ(owner, 1);
  }
  const AbiHandle peer = abi_open(abi_words(by_class, 0));
  std::size_t count = 0;
  EXPECT_EQ(gv_rows(peer.get(), nullptr, 100, nullptr, &count), GV_E_USE);
  EXPECT_TRUE(has(error(), "give labels"));
  labels[3] = 256;
  EXPECT_EQ(gv_rows(peer.get(), labels.data(), labels.size(), nullptr, &count), GV_E_USE);
  EXPECT_EQ(gv_rows(peer.get(), nullptr, 0, nullptr, &count), GV_E_USE);
}

TEST(AbiSay, WhatIsSaidIsKeptWithItsRound) {
  const ScratchFolder scratch;
  const AbiHandle peer =
      abi_open(abi_words(four, 0, fmt::format(R"(, "folder": "{}")", scratch.path())));
  ASSERT_TRUE(peer) << error();
  EXPECT_EQ(gv_say(peer.get(), R"({"log": {"loss": 0.5}, "figures": {"f1": 0.25}})"), GV_OK)
      << error();
  std::ifstream file(scratch.path() + "/program.jsonl");
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, R"({"round":0,"log":{"loss":0.5},"figures":{"f1":0.25}})");
}

}  // namespace
}  // namespace gv
