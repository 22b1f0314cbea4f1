#include "tests/mutants/link_mutants.h"

namespace gv {
namespace {

/// A process' settings with these rules.
template <class Rules>
LinkParts with_rules() {
  static const Rules rules;
  return {.settings = [](LinkSettings& settings) { settings.rules = &rules; }, .reader = {}};
}

/// The rules with this session.
template <class Wrong>
struct WithSession : LinkRules {
  std::unique_ptr<Session> new_session() const override { return std::make_unique<Wrong>(); }
};

struct NoRepetition : LinkRules {
  bool sends_again() const override { return false; }
};

/// No look at the number: what comes again counts as one more.
struct TakesRepetitions : Session {
  Arrival arrive(std::uint64_t) override {
    ++received_;
    return Arrival::next;
  }
};

struct ForgetsOneTooMany : Session {
  bool acknowledge(std::uint64_t number) override {
    return number <= sent() && Session::acknowledge(std::min(number + 1, sent()));
  }
};

struct LeavesWhoIsAway : LinkRules {
  bool may_leave(const Farewell& farewell, Time now, Time patience) const override {
    return farewell.away || LinkRules::may_leave(farewell, now, patience);
  }
};

struct NoSuccessors : LinkRules {
  bool succeeds(std::uint64_t, std::uint64_t) const override { return false; }
};

struct TakesOldConnections : LinkRules {
  bool takes(ConnectionId, ConnectionId) const override { return true; }
};

struct Credulous : wire::FrameReader {
  using FrameReader::FrameReader;
  bool intact(std::span<const std::byte>, std::uint64_t) const override { return true; }
};

}  // namespace

std::vector<LinkMutant> link_mutants() {
  return {{"forget_sent_on_reconnect", with_rules<NoRepetition>()},
          {"take_repetitions", with_rules<WithSession<TakesRepetitions>>()},
          {"acknowledge_too_much", with_rules<WithSession<ForgetsOneTooMany>>()},
          {"leave_who_is_away", with_rules<LeavesWhoIsAway>()},
          {"keep_session_of_the_dead", with_rules<NoSuccessors>()},
          {"take_of_old_connection", with_rules<TakesOldConnections>()},
          {"believe_damaged_payloads", {.settings = {}, .reader = [](BufferPool& pool) {
                                          return std::make_unique<Credulous>(pool);
                                        }}}};
}

}  // namespace gv
