#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/cli/embed/grapevine_program.h"
#include "peer/fleet/json/json.h"
#include "tests/peer/sim/program_peers.h"

namespace gv {

/// Closes a peer that a test opened.
struct CloseAbi {
  void operator()(gv_peer* peer) const { gv_close(peer); }
};
using AbiHandle = std::unique_ptr<gv_peer, CloseAbi>;

/// Returns null if gv_open failed.
inline AbiHandle abi_open(const std::string& json) {
  gv_peer* peer = nullptr;
  gv_open(json.c_str(), &peer);
  return AbiHandle(peer);
}

/// Returns the JSON for gv_open: peer `id` of a fleet that is in no file, on any port of loopback.
inline std::string abi_words(const std::string& fleet, PeerId id, const std::string& more = "") {
  return fmt::format(R"({{"text": {}, "id": {}, "listen": "127.0.0.1:0", "log": "none"{}}})",
                     Json(fleet).dump(), id, more);
}

inline std::string abi_info(const gv_peer* peer) {
  std::string text(1 << 16, '\0');
  EXPECT_EQ(gv_info(peer, text.data(), text.size()), GV_OK) << gv_error(peer);
  text.resize(text.find('\0'));
  return text;
}

inline bool is_of_gradient(int turn) {
  return turn == GV_TURN_GRADIENT || turn == GV_TURN_GRADIENT_AND_STEP;
}

/// Vectors of different sizes as tensors t0, t1, ...
class AbiTensors {
 public:
  explicit AbiTensors(const Segments& x) {
    for (std::size_t begin = 0; begin < x.size();) {
      const std::span<float> piece = x.from(begin);
      names_.push_back(fmt::format("t{}", names_.size()));
      shapes_.push_back(static_cast<std::int64_t>(piece.size()));
      data_.push_back(piece.data());
      begin += piece.size();
    }
    for (std::size_t k = 0; k < names_.size(); ++k)
      tensors_.push_back({names_[k].c_str(), "float32", 1, &shapes_[k], nullptr, data_[k]});
  }
  AbiTensors(const AbiTensors&) = delete;
  AbiTensors& operator=(const AbiTensors&) = delete;

  const std::vector<gv_tensor>& all() const { return tensors_; }
  const std::vector<void*>& data() const { return data_; }

 private:
  std::vector<std::string> names_;
  std::vector<std::int64_t> shapes_;
  std::vector<void*> data_;
  std::vector<gv_tensor> tensors_;
};

inline gv_told abi_told(const Told& told) {
  gv_told said{.size = sizeof(gv_told),
               .has = 0,
               .loss = told.loss.value_or(0),
               .rate = told.rate.value_or(0),
               .samples = 0,
               .test_loss = told.evaluation ? told.evaluation->loss : 0,
               .accuracy = 0};
  if (told.loss) said.has |= GV_HAS_LOSS;
  if (told.rate && *told.rate > 0) said.has |= GV_HAS_RATE;
  if (told.evaluation) said.has |= GV_HAS_TEST_LOSS;
  return said;
}

/// A PyTorch loop knows the rate of a step only when it is about to take that step.
enum class RateIsTold { always, with_gradients };

/// Takes a program's turns until there are none. Returns the last result of gv_turn: GV_TURN_OVER
/// or an error. `before` is called before each turn; if it returns false, the program leaves there.
/// `wait_ms` is the timeout of each call; 0 polls, as a program with a loop of its own does.
inline int abi_train(gv_peer* peer,
                     InnerProgram& program,
                     const std::function<bool(int turn)>& before = {},
                     RateIsTold rate = RateIsTold::always,
                     int wait_ms = 5000) {
  const AbiTensors gradients(program.g());
  gv_told told = abi_told(program.begun());
  if (rate == RateIsTold::with_gradients) told.has = 0;
  for (;;) {
    const int turn = gv_turn(peer, &told, wait_ms);
    told.has = 0;
    if (turn < 0 || turn == GV_TURN_OVER) return turn;
    if (turn == GV_TURN_NONE) {
      std::this_thread::yield();
      continue;
    }
    if (before && !before(turn)) return turn;
    const Told said = program.take(static_cast<Turn>(turn));
    told = abi_told(said);
    if (rate == RateIsTold::with_gradients && !is_of_gradient(turn)) told.has &= ~GV_HAS_RATE;
    if (turn == GV_TURN_GRADIENT) {
      const int code =
          gv_point(peer, GV_POINT_GRADIENTS, gradients.data().data(), gradients.data().size());
      EXPECT_EQ(code, GV_OK) << gv_error(peer);
    }
    if (turn != GV_TURN_SAVE) continue;
    std::string state = *said.state;
    std::size_t bytes = state.size();
    EXPECT_EQ(gv_state(peer, 1, state.data(), &bytes), GV_OK) << gv_error(peer);
  }
}

}  // namespace gv
