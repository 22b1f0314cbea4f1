#include "tests/mutants/bad_world.h"

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <utility>

namespace gv::mutants {
namespace {

/// Changes a message before it is sent; returns false to drop it.
using Change = std::function<bool(PeerId to, Message&)>;

class BadWorld : public World {
 public:
  BadWorld(World& real, Change change) : real_(real), change_(std::move(change)) {}

  void send(PeerId to, Message message) override {
    if (change_(to, message)) real_.send(to, std::move(message));
  }
  Time now() const override { return real_.now(); }
  void after(Time delay, std::function<void()> f) override { real_.after(delay, std::move(f)); }
  void offload(Lane lane,
               double flops,
               std::function<void()> job,
               std::function<void()> done) override {
    real_.offload(lane, flops, std::move(job), std::move(done));
  }
  std::uint64_t sent_bytes() const override { return real_.sent_bytes(); }

 private:
  World& real_;
  Change change_;
};

/// Records quarantines.
class Eavesdropper : public Journal {
 public:
  Eavesdropper(Journal& real, std::shared_ptr<std::set<PeerId>> quarantined)
      : real_(real), quarantined_(std::move(quarantined)) {}

  void publish(Report report) override { real_.publish(std::move(report)); }
  void store(Round round, std::vector<std::byte> state) override {
    real_.store(round, std::move(state));
  }
  void settled(const Settlement& settlement) override { real_.settled(settlement); }
  void note(const PeerEvent& event) override {
    if (const auto* e = std::get_if<event::Quarantined>(&event)) quarantined_->insert(e->peer);
    real_.note(event);
  }

 private:
  Journal& real_;
  std::shared_ptr<std::set<PeerId>> quarantined_;
};

/// Returns a test for the first message of a kind after much longer than an undisturbed round.
std::function<bool(const Message&)> after_a_while(World& world, Kind kind) {
  const auto last = std::make_shared<Time>(world.now());
  return [&world, kind, last](const Message& m) {
    if (m.kind != kind) return false;
    const Time before = std::exchange(*last, world.now());
    return world.now() - before > std::chrono::milliseconds(30);
  };
}

}  // namespace

Interposed answer_no_fetch(World& world, Journal&) {
  const Change change = [](PeerId, Message& m) { return m.kind != Kind::model_copy; };
  return {std::make_unique<BadWorld>(world, change), nullptr};
}

Interposed number_by_round(World& world, Journal&) {
  const Change change = [](PeerId, Message& m) {
    if (m.kind == Kind::contribution) m.number = m.round;
    return true;
  };
  return {std::make_unique<BadWorld>(world, change), nullptr};
}

Interposed quarantine_silently(World& world, Journal& journal) {
  const auto quarantined = std::make_shared<std::set<PeerId>>();
  const Change change = [quarantined](PeerId to, Message& m) {
    return m.kind != Kind::goodbye || !quarantined->contains(to);
  };
  return {std::make_unique<BadWorld>(world, change),
          std::make_unique<Eavesdropper>(journal, quarantined)};
}

Interposed push_late(World& world, Journal&) {
  const auto last = std::make_shared<Payload>();
  const Change change = [last, late = after_a_while(world, Kind::push)](PeerId, Message& m) {
    if (late(m) && *last) m.payload = *last;
    if (m.kind == Kind::push) *last = m.payload;
    return true;
  };
  return {std::make_unique<BadWorld>(world, change), nullptr};
}

Interposed silence_an_edge(World& world, Journal&) {
  const Change change = [sent = 0](PeerId to, Message& m) mutable {
    constexpr int most = 20;
    const bool between = m.kind == Kind::contribution && m.from + to == 1;
    return !between || ++sent <= most;
  };
  return {std::make_unique<BadWorld>(world, change), nullptr};
}

Interposed forget_a_sum(World& world, Journal&) {
  const Change change = [late = after_a_while(world, Kind::gather)](PeerId, Message& m) {
    return !late(m);
  };
  return {std::make_unique<BadWorld>(world, change), nullptr};
}

}  // namespace gv::mutants
