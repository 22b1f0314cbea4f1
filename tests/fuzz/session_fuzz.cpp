// A whole conversation: the input plays the neighbours of a peer, their connections and the time.
// Its bytes are a script of steps, so that it soon gets past the greeting; session_world.h checks
// the invariants after each step.
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/session_world.h"

namespace gv::fuzz {
namespace {

/// A neighbour, as the input plays it.
struct Player {
  PeerId id = 0;
  ConnectionId connection = 0;
  std::uint64_t incarnation = 10;
  std::uint64_t sent = 0;      ///< number of messages sent by this process
  std::uint64_t exchange = 0;  ///< number of the next exchange
  std::uint64_t received = 0;
};

class Script {
 public:
  explicit Script(Input input) : input_(input), world_(input_.flag()) {}

  void run() {
    for (int step = 0; step < 200 && !input_.empty() && !world_.over(); ++step) {
      const std::uint8_t what = input_.byte();
      play(what % 16U, players_[what >> 7U]);
      world_.proceed();
    }
    for (int k = 0; k < 60 && !world_.over(); ++k) world_.pass(std::chrono::seconds(5));
    GV_CHECK(world_.over(), "nothing waits without an end, whatever was said before");
  }

 private:
  void play(unsigned what, Player& who) {
    LinkLayer& links = world_.links();
    const Time now = world_.now();
    switch (what) {
      case 0:
        return connect(who);
      case 1:
        return greet(who, honest_hello(who));
      case 2:
        return greet(who, any_hello());
      case 3:
        return say(who, next_exchange(who));
      case 4:
        return say(who, any_message(who));
      case 5:
        who.received = world_.last_sent(who.connection);
        return links.arrived(who.connection, Heartbeat{.ack = who.received, .clock = who.exchange},
                             now);
      case 6:
        return links.arrived(who.connection,
                             Heartbeat{any_number(), any_number(), any_number(), input_.flag()},
                             now);
      case 7:
        return links.arrived(who.connection, Refusal{std::string(input_.text(40))}, now);
      case 8:
        return links.ended(who.connection, "reset", now);
      case 9:
        return links.nobody_listens(who.id, "refused", now);
      case 10:
        ++who.incarnation;
        who.sent = who.exchange = who.received = 0;
        return connect(who);
      case 11:
        return links.no_frame(who.connection);
      case 12:
        return links.hear_bytes(who.connection, any_number(), now);
      case 13:
        return links.cut(who.id, now + std::chrono::milliseconds(input_.byte() * 20), now);
      case 14:
        return world_.pass(std::chrono::milliseconds(input_.byte()));
      default:
        return world_.pass(std::chrono::milliseconds(input_.byte() * 100));
    }
  }

  /// Peer 1 is dialled; peer 2 dials us.
  void connect(Player& who) {
    LinkLayer& links = world_.links();
    if (who.id == 2) {
      const std::uint8_t how = input_.byte();
      who.connection = links.accepted("10.0.0.1", 1000, world_.now(),
                                      {.known = (how & 2U) != 0, .crowded = (how & 1U) != 0});
    } else if (world_.dialled(who.id) != 0) {
      who.connection = world_.dialled(who.id);
      links.connected(who.connection, world_.now());
    }
  }
  void greet(const Player& who, const Hello& hello) {
    if (who.connection != 0) world_.links().arrived(who.connection, hello, world_.now());
  }
  static Hello honest_hello(const Player& who) {
    return {.fleet = "f",
            .model = "m",
            .peer = who.id,
            .incarnation = who.incarnation,
            .peers = 3,
            .neighbor_incarnation = 1,
            .received = who.received,
            .clock = who.exchange};
  }
  Hello any_hello() {
    return {.fleet = input_.below(8) == 1 ? "g" : "f",
            .model = input_.below(8) == 1 ? "n" : "m",
            .peer = static_cast<PeerId>(input_.below(5)),
            .incarnation = any_number(),
            .peers = input_.below(8) == 1 ? 4U : 3U,
            .neighbor_incarnation = input_.below(3),
            .received = any_number(),
            .clock = any_number()};
  }

  void say(Player& who, const NumberedMessage& message) {
    world_.links().arrived(who.connection, message, world_.now());
  }
  NumberedMessage next_exchange(Player& who) {
    who.received = world_.last_sent(who.connection);
    Message m{.from = who.id,
              .kind = Kind::contribution,
              .number = who.exchange,
              .part = 0,
              .payload = world_.lend(SessionWorld::model_bytes, 1),
              .round = who.exchange,
              .degree = 2};
    ++who.exchange;
    return {m, ++who.sent, who.received};
  }
  NumberedMessage any_message(Player& who) {
    static constexpr Kind kinds[] = {Kind::contribution, Kind::goodbye, Kind::fetch,
                                     Kind::model_copy,   Kind::held_up, Kind::push};
    static constexpr std::size_t sizes[] = {0, 4, 12, SessionWorld::model_bytes};
    static constexpr float values[] = {0, 1e30F, -3e38F, INFINITY, NAN};
    Message m;
    m.from = input_.below(8) == 1 ? 9 : who.id;
    m.kind = kinds[input_.below(std::size(kinds))];
    m.number = input_.flag() ? any_number() : who.exchange++;
    m.part = input_.below(8) == 1 ? static_cast<std::uint32_t>(any_number()) : input_.byte() & 1U;
    const std::size_t size = sizes[input_.below(std::size(sizes))];
    const float value = values[input_.below(std::size(values))];
    if (size > 0) m.payload = world_.lend(size, value);
    m.round = any_number();
    m.degree = input_.below(8) == 1 ? static_cast<std::uint32_t>(any_number()) : 2;
    const std::uint64_t number = input_.below(8) == 1 ? any_number() : ++who.sent;
    return {m, number, input_.below(4) == 1 ? any_number() : world_.last_sent(who.connection)};
  }
  /// Mostly small numbers, and numbers whose sums and products overflow.
  std::uint64_t any_number() {
    const std::uint8_t how = input_.byte();
    if (how < 0xC0) return how % 16U;
    if (how < 0xE0) return input_.word();
    return how < 0xF0 ? input_.number() : ~std::uint64_t{0} >> (how & 15U);
  }

  Input input_;
  SessionWorld world_;
  Player players_[2] = {{.id = 1}, {.id = 2}};
};

}  // namespace
}  // namespace gv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Script(gv::fuzz::Input(data, size)).run();
  return 0;
}
