#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gossip/peer.h"

namespace gv {

/// A world without time: jobs run on demand, and messages are kept.
class StillWorld : public World {
 public:
  Time now() const override { return clock; }
  void send(PeerId to, Message message) override { sent.emplace_back(to, std::move(message)); }
  void after(Time delay, std::function<void()> f) override {
    timers.emplace_back(delay, std::move(f));
  }
  void offload(Lane, double, std::function<void()> job, std::function<void()> done) override {
    jobs.push_back([job = std::move(job), done = std::move(done)] {
      job();
      done();
    });
  }
  std::uint64_t sent_bytes() const override { return 0; }
  Time stood_still() const override { return stood; }

  void work() {
    while (!jobs.empty()) {
      const auto job = std::move(jobs.front());
      jobs.pop_front();
      job();
    }
  }

  Time clock{0};
  Time stood{0};  ///< see stood_still()
  std::vector<std::pair<Time, std::function<void()>>> timers;
  std::vector<std::pair<PeerId, Message>> sent;
  std::deque<std::function<void()>> jobs;
};

/// Keeps everything that a peer reports.
class WholeJournal : public Journal {
 public:
  void publish(Report report) override { reports.push_back(std::move(report)); }
  void store(Round round, std::vector<std::byte>) override { stored.push_back(round); }
  void settled(const Settlement& settlement) override { settlements.push_back(settlement); }
  void note(const PeerEvent& event) override {
    events.push_back(event);
    said += to_text(event) + "\n";
  }

  std::vector<Report> reports;
  std::vector<Round> stored;
  std::vector<Settlement> settlements;
  std::vector<PeerEvent> events;
  std::string said;
};

}  // namespace gv
