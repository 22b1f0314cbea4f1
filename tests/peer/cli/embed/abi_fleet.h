#pragma once

#include <barrier>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <xxhash.h>

#include "peer/runtime/tcp_peer.h"
#include "tests/peer/cli/embed/abi_peer.h"

namespace gv {

/// A fleet whose peers train a quadratic, either built in or as programs that do the same.
struct QuadraticText {
  std::string kind = "d-psgd";
  std::string order{};
  PeerId peers = 4;
  std::string topology = "ring";
  std::uint32_t local_steps = 1;
  std::uint64_t rounds = 6;
  std::string more{};  ///< further lines of the fleet file
  std::string schedule = "constant";

  std::string built_in() const {
    return text(
        "data: { kind: quadratic, dimension: 50, hessian: [1, 0.5, 0.1], noise: 1, spread: 1 }\n");
  }
  std::string program() const { return text(""); }

 private:
  std::string text(const std::string& trains) const {
    return fmt::format(
        "version: 1\nseed: 7\npeers: {}\n{}train: {{ optimizer: {{ kind: sgd, lr: 0.25, schedule: "
        "{} }}, "
        "local_steps: {} }}\nalgorithm: {{ kind: {}{} }}\ntopology: {}\nstop: {{ rounds: {} }}\n"
        "evaluate: {{ every: 5 rounds }}\n{}",
        peers, trains, schedule, local_steps, kind, order.empty() ? "" : ", order: " + order,
        topology, rounds, more);
  }
};

inline void PrintTo(const QuadraticText& text, std::ostream* out) {
  *out << text.kind << ' ' << text.order;
}

/// The last vectors of a fleet's peers.
class Ends {
 public:
  void keep(PeerId id, std::vector<float> x) {
    const std::lock_guard lock(mutex_);
    ends_[id] = std::move(x);
  }
  /// Returns the hash as a run prints it.
  std::string params_hash() const {
    std::vector<float> all;
    for (const auto& [id, x] : ends_) all.insert(all.end(), x.begin(), x.end());
    const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size() * sizeof(float));
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  std::mutex mutex_;
  std::map<PeerId, std::vector<float>> ends_;
};

inline std::vector<float> joined(const Segments& x) {
  std::vector<float> all;
  for (std::size_t begin = 0; begin < x.size(); begin = all.size()) {
    const std::span<float> piece = x.from(begin);
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

/// Programs that train as the built-in peers of `text` would, through the C interface over TCP.
/// Each program and server runs on its own thread.
class AbiFleet {
 public:
  using Before = std::function<bool(PeerId id, gv_peer* peer, int turn)>;

  explicit AbiFleet(QuadraticText text)
      : text_(std::move(text)), built_in_(read_fleet_text(text_.built_in())) {
    programs_ = built_in_.fleet.trainers();
    ports_.resize(built_in_.fleet.size());
    codes_.resize(programs_);
    errors_.resize(programs_);
  }

  /// JSON members for gv_open and gv_attach, and a function that runs before each turn.
  std::string open_more{}, attach{};
  Before before{};
  RateIsTold rate_is_told = RateIsTold::always;
  int wait_ms = 5000;                                       ///< timeout of each gv_turn
  std::function<void(PeerId id, gv_peer* peer)> at_over{};  ///< called after the last turn
  /// Round of the checkpoint from which the programs resume, and the folders with their states.
  std::optional<Round> from{};
  std::function<std::string(PeerId id)> folder{};

  void run() {
    std::barrier all_listen(static_cast<std::ptrdiff_t>(built_in_.fleet.size()));
    std::vector<std::thread> threads;
    for (PeerId i = 0; i < programs_; ++i)
      threads.emplace_back([this, i, &all_listen] { be_program(i, all_listen); });
    for (PeerId i = programs_; i < built_in_.fleet.size(); ++i)
      threads.emplace_back([this, i, &all_listen] { be_server(i, all_listen); });
    for (std::thread& thread : threads) thread.join();
  }
  std::string params_hash() const { return ends_.params_hash(); }
  /// Returns the last code of gv_turn, or else of gv_finish, and the reason for it.
  int code(PeerId id) const { return codes_[id]; }
  const std::string& error(PeerId id) const { return errors_[id]; }
  PeerId programs() const { return programs_; }

 private:
  std::string addresses() const {
    std::string all;
    for (PeerId i = 0; i < ports_.size(); ++i)
      all += fmt::format(R"({}{{"peer": {}, "host": "127.0.0.1", "port": {}}})", i == 0 ? "" : ", ",
                         i, ports_[i]);
    return "[" + all + "]";
  }

  std::string words(PeerId id) const {
    std::string more = open_more;
    if (folder) more += fmt::format(R"(, "folder": {})", Json(folder(id)).dump());
    if (from) more += fmt::format(R"(, "from": {})", *from);
    return abi_words(text_.program(), id, more);
  }

  void be_program(PeerId id, std::barrier<>& all_listen) {
    InnerProgram program(built_in_.host_replica(id));
    const AbiHandle peer = abi_open(words(id));
    EXPECT_NE(peer, nullptr) << gv_error(nullptr);
    const AbiTensors x(program.x());
    const int port =
        peer ? gv_attach(peer.get(), x.all().data(), x.all().size(), attach.c_str()) : -1;
    EXPECT_GT(port, 0) << gv_error(peer.get());
    ports_[id] = static_cast<std::uint16_t>(port);
    all_listen.arrive_and_wait();
    if (port <= 0) return;
    restore(peer.get(), program);
    EXPECT_EQ(gv_begin(peer.get(), addresses().c_str()), GV_OK) << gv_error(peer.get());
    const auto hook = [&](int turn) { return !before || before(id, peer.get(), turn); };
    int code = abi_train(peer.get(), program, hook, rate_is_told, wait_ms);
    if (code == GV_TURN_OVER && at_over) at_over(id, peer.get());
    if (code == GV_TURN_OVER) code = gv_finish(peer.get(), 20'000);
    codes_[id] = code;
    errors_[id] = gv_error(peer.get());
    ends_.keep(id, joined(program.x()));
  }

  void restore(gv_peer* peer, InnerProgram& program) const {
    std::size_t bytes = 0;
    EXPECT_EQ(gv_state(peer, 0, nullptr, &bytes), GV_OK);
    EXPECT_EQ(bytes > 0, from.has_value());
    if (bytes == 0) return;
    std::string state(bytes, '\0');
    EXPECT_EQ(gv_state(peer, 0, state.data(), &bytes), GV_OK);
    static_cast<void>(program.restore(state));
  }

  void be_server(PeerId id, std::barrier<>& all_listen) {
    InnerProgram program(built_in_.host_replica(0));
    const AbiTensors x(program.x());
    ProgramModel model;
    for (const gv_tensor& tensor : x.all())
      model.parameters.push_back(
          {.name = tensor.name, .shape = {static_cast<std::uint32_t>(tensor.shape[0])}});
    model.start = joined(program.x());
    const Assembly fleet(read_fleet_text(text_.program()), id, model);
    TcpPeerOptions options;
    options.log = [](const std::string&) {};
    options.on_report = [&](const Report& report) {
      const std::span<const float> part = report.model->floats();
      if (report.last) ends_.keep(id, {part.begin(), part.end()});
    };
    TcpPeer peer(fleet, id, std::move(options));
    ports_[id] = peer.listen();
    all_listen.arrive_and_wait();
    std::vector<PeerAddress> all;
    for (PeerId i = 0; i < ports_.size(); ++i) all.push_back({i, "127.0.0.1", ports_[i]});
    EXPECT_NO_THROW(peer.run(all));
  }

  QuadraticText text_;
  Assembly built_in_;
  PeerId programs_ = 0;
  std::vector<std::uint16_t> ports_;
  std::vector<int> codes_;
  std::vector<std::string> errors_;
  Ends ends_;
};

}  // namespace gv
