#include <chrono>
#include <deque>

#include "peer/sim/world/sim_network.h"
#include "tests/gossip/link/scripted_user.h"
#include "tests/peer/wire/link/link_net.h"

namespace gv {
namespace {

/// Bytes through the real codec in virtual time, over the network of the swarm.
class SimLinkNet : public LinkNet {
 public:
  SimLinkNet()
      : injector_(
            1, Time::max(), [this](const std::string& line) { hear(line); }, false),
        processes_(shared_.queue, 2) {
    shared_.network.latency = std::chrono::microseconds(200);
    shared_.bounds = {.messages = true, .kinds = ~0U, .payload_bytes = 1 << 20};
    shared_.finished.assign(2, false);
    shared_.work.resize(2);
    shared_.peers.assign(2, nullptr);
    for (PeerId id = 0; id < 2; ++id) processes_.die(id);  // no process runs yet
    network_.emplace(shared_, injector_, processes_, parts_);
    network_->start();
  }

  void start(LinkSettings settings) override {
    const PeerId id = settings.self.peer;
    if (!processes_.dead(id)) kill(id);
    processes_.rise(id);
    Process& process = all_.emplace_back();
    present_[id] = &process;
    process.user.on_message = [&process](const Message& m) {
      process.bytes += m.payload ? m.payload->size() : 0;
    };
    network_->born({id, processes_.life(id)}, std::move(settings), process.user,
                   [&process] { process.begun = true; });
  }
  void send(PeerId from, Round number, std::size_t bytes) override {
    network_->send(from, 1 - from, message_of(from, Kind::contribution, number, bytes));
  }
  void say_goodbye(PeerId from, Round number) override {
    network_->send(from, 1 - from, message_of(from, Kind::goodbye, number));
  }
  void end(PeerId id) override {
    present_[id]->user.finishing = processes_.clock(id);
    network_->end(id);
  }
  void kill(PeerId id) override {
    processes_.die(id);
    network_->died(id, false);
  }
  void break_connection() override { network_->reset(network_->random_pair()); }
  void swallow() override { network_->stall(network_->random_pair(), 2, std::chrono::hours(1)); }
  void cut(Time length) override { network_->cut(0, 1, length); }
  Seen seen(PeerId id) override {
    const Process& process = *present_[id];
    return {process.begun,      !network_->lingers(id), failures_[id],
            process.user.taken, process.bytes,          process.user.told};
  }
  bool until(const std::function<bool()>& so) override {
    const Time last = shared_.queue.now() + std::chrono::minutes(1);
    while (!so()) {
      if (shared_.queue.empty() || shared_.queue.now() > last) return false;
      shared_.queue.run_next();
    }
    return true;
  }

 private:
  struct Process {
    ScriptedUser user;
    bool begun = false;
    std::size_t bytes = 0;
  };

  /// A process that cannot begin reports this only in its log.
  void hear(const std::string& line) {
    for (PeerId id = 0; id < 2; ++id) {
      const std::string words = "peer " + std::to_string(id) + " logs: cannot begin: ";
      const auto at = line.find(words);
      if (at != std::string::npos) failures_[id] = line.substr(at + words.size());
    }
  }

  std::array<std::string, 2> failures_;
  SimShared shared_;
  LinkParts parts_;
  FaultInjector injector_;
  Processes processes_;
  std::optional<SimNetwork> network_;
  std::deque<Process> all_;
  std::array<Process*, 2> present_{};
};

}  // namespace

std::unique_ptr<LinkNet> sim_link_net() {
  return std::make_unique<SimLinkNet>();
}

}  // namespace gv
