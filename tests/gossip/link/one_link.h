#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gossip/link/memory_net.h"

namespace gv {

/// The link layer of peer 0; the test plays its neighbours. Inputs are frames and events, outputs
/// are kept as words and frames. Peers 1 and 2 are dialled.
class OneLink : public testing::Test, protected Carrier {
 protected:
  void make(LinkSettings settings) {
    Carrier& carrier = *this;
    links.emplace(std::move(settings), carrier, user, 1);
    links->start(now);
    links->on_time(now);
  }
  void make() { make(settings_of(0, 3, {1})); }
  /// Makes a link layer with both neighbours; theirs are the first two connections.
  void make_two() { make(settings_of(0, 3, {1, 2})); }

  Hello hello_of(PeerId id, int life = 1) const {
    Hello hello = settings_of(id, 3, {0}, life).self;
    hello.neighbor_incarnation = 1;
    return hello;
  }
  /// Lets the neighbour answer the last dial; returns the connection.
  ConnectionId meet(const Hello& hello) {
    const ConnectionId connection = dialled.at(hello.peer);
    links->connected(connection, now);
    links->arrived(connection, hello, now);
    return connection;
  }
  ConnectionId meet() {
    if (!links) make();
    return meet(hello_of(1));
  }
  Message message(PeerId from, Round round = 0, std::size_t bytes = 0) const {
    return message_of(from, Kind::contribution, round, bytes);
  }
  void arrive(ConnectionId connection, std::uint64_t number, std::uint64_t ack = 0) {
    links->arrived(connection, NumberedMessage{message(1, number), number, ack}, now);
  }
  /// Lets time pass, and wakes the layer whenever it asked for it.
  void pass(Time length) {
    const Time last = now + length;
    while (wake <= last) {
      now = std::max(now, wake);
      wake = Time::max();
      links->on_time(now);
    }
    now = last;
  }
  template <class T>
  std::vector<T> frames() const {
    std::vector<T> all;
    for (const Frame& frame : sent)
      if (const auto* one = std::get_if<T>(&frame)) all.push_back(*one);
    return all;
  }
  bool closed(ConnectionId connection) const {
    return std::ranges::find(closings, connection) != closings.end();
  }

  void dial(PeerId neighbor, ConnectionId connection) override {
    dialled[neighbor] = connection;
    dial_times.push_back(now);
  }
  void probe(PeerId) override { ++probes; }
  void send(ConnectionId, const Frame& frame) override { sent.push_back(frame); }
  void admit(ConnectionId connection, PeerId, const Hello&) override {
    admitted.push_back(connection);
  }
  void finish(ConnectionId connection) override { finished.push_back(connection); }
  void close(ConnectionId connection) override { closings.push_back(connection); }
  void wake_at(Time time) override { wake = time; }
  std::string address(PeerId) const override { return "there:1"; }
  JobCount work() const override { return {}; }
  void begin() override { ++begins; }
  void fail(const std::string& why) override { failure = why; }
  void leave() override { ++leaves; }
  void say(const std::string& line) override { log += line + "\n"; }

  Time now{std::chrono::seconds(100)};
  Time wake = Time::max();
  ScriptedUser user;
  std::map<PeerId, ConnectionId> dialled;
  std::vector<Time> dial_times;
  std::vector<Frame> sent;
  std::vector<ConnectionId> admitted, finished, closings;
  int probes = 0, begins = 0, leaves = 0;
  std::string failure, log;
  std::optional<LinkLayer> links;
};

}  // namespace gv
