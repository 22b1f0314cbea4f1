#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <span>

#include "gossip/link/link_settings.h"
#include "peer/wire/frame/frame.h"
#include "tests/mutants/mutants.h"

// Wrong parts of the link layer, one for each bug that could be written into it.

namespace gv::mutants {
namespace {

LinkParts settings(std::function<void(LinkSettings&)> change) {
  return {.settings = std::move(change), .reader = {}};
}

template <class Wrong>
LinkParts link_rules() {
  static const Wrong wrong;
  return settings([](LinkSettings& all) { all.rules = &wrong; });
}

template <class Wrong>
struct WithSession : LinkRules {
  std::unique_ptr<Session> new_session() const override { return std::make_unique<Wrong>(); }
};

template <class Wrong>
LinkParts session() {
  return link_rules<WithSession<Wrong>>();
}

struct NoRepetition : LinkRules {
  bool sends_again() const override { return false; }
};

/// Ignores message numbers: a repetition counts as a new message.
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

/// Acknowledges one message more than has arrived.
struct ClaimsOneTooMany : Session {
  Arrival arrive(std::uint64_t number) override {
    const Arrival arrival = Session::arrive(number);
    if (arrival == Arrival::next && number == 3) ++received_;
    return arrival;
  }
};

/// Drops the message at a certain place, as a full queue would.
struct LosesOne : Session {
  Arrival arrive(std::uint64_t number) override {
    const Arrival arrival = Session::arrive(number);
    return number == 20 && arrival == Arrival::next ? Arrival::again : arrival;
  }
};

struct GivesNobodyUp : LinkRules {
  bool gives_up(const Session&, std::uint64_t) const override { return false; }
};

struct LeavesWhoIsAway : LinkRules {
  bool may_leave(const Farewell& farewell, Time now, Time patience) const override {
    return farewell.away || LinkRules::may_leave(farewell, now, patience);
  }
};

/// Leaves after its own farewell, without checking that all neighbours have received it.
struct LeavesAtOnce : LinkRules {
  bool may_leave(const Farewell&, Time, Time) const override { return true; }
};

struct NoSuccessors : LinkRules {
  bool succeeds(std::uint64_t, std::uint64_t) const override { return false; }
};

/// Treats every new connection as a new process.
struct OnlySuccessors : LinkRules {
  bool succeeds(std::uint64_t met, std::uint64_t) const override { return met != 0; }
};

struct TakesOldConnections : LinkRules {
  bool takes(ConnectionId, ConnectionId) const override { return true; }
};

struct Credulous : wire::FrameReader {
  using FrameReader::FrameReader;
  bool intact(std::span<const std::byte>, std::uint64_t) const override { return true; }
};

LinkParts reads_what_is_damaged() {
  return {.settings = {},
          .reader = [](BufferPool& pool) { return std::make_unique<Credulous>(pool); }};
}

template <class Wrong>
LinkParts lender() {
  return {.sharing = {.lender = [](Region ours, std::size_t smallest) -> std::shared_ptr<Lender> {
            return std::make_shared<Wrong>(std::move(ours), smallest);
          }}};
}

template <class Wrong>
LinkParts borrower() {
  return {.sharing = {.borrower = [](Region theirs, Region ours,
                                     std::uint32_t row) -> std::shared_ptr<Borrower> {
            return std::make_shared<Wrong>(std::move(theirs), std::move(ours), row);
          }}};
}

/// Overwrites blocks that neighbours still read.
struct WaitsForNobody : Lender {
  using Lender::Lender;
  bool given_back(std::uint32_t, std::uint32_t, std::uint64_t) const override { return true; }
};

/// Does not hold a block again that it has given back and receives again.
struct DropsWhatCameBefore : Borrower {
  using Borrower::Borrower;
  void hold(const Loan&) override {}
};

struct BelievesThePlace : Borrower {
  using Borrower::Borrower;
  Verdict judge_place(const Loan&) const override { return ""; }
};

struct BelievesTheUse : Borrower {
  using Borrower::Borrower;
  Verdict judge_use(const Loan&) const override { return ""; }
};

constexpr Time never = std::chrono::hours(24);

void believe_any_clock(LinkSettings& all) {
  all.slack = std::numeric_limits<std::int32_t>::max();
}

/// A method in which each peer meets all the others in turn, so that clocks come from all sides.
Mutant clock_of_anybody(std::string_view name, PeerId peers) {
  return {.name = name,
          .links = settings(believe_any_clock),
          .method = "d-psgd",
          .deadline = std::chrono::milliseconds(50),
          .topology = "random-matching",
          .peers = peers};
}

}  // namespace

std::vector<Mutant> of_links() {
  return {
      {"forget_sent_on_reconnect", {}, link_rules<NoRepetition>()},
      {"take_repetitions", {}, session<TakesRepetitions>()},
      {"acknowledge_too_much", {}, session<ForgetsOneTooMany>()},
      {"claim_one_too_many", {}, session<ClaimsOneTooMany>()},
      {"lose_one_message", {}, session<LosesOne>()},
      {.name = "give_nobody_up",
       .links = link_rules<GivesNobodyUp>(),
       .method = "fedavg",
       .deadline = std::chrono::milliseconds(50)},
      {"leave_who_is_away", {}, link_rules<LeavesWhoIsAway>()},
      {"leave_at_once", {}, link_rules<LeavesAtOnce>()},
      {"keep_session_of_the_dead", {}, link_rules<NoSuccessors>()},
      {"forget_session_of_the_living", {}, link_rules<OnlySuccessors>()},
      {"take_of_old_connection", {}, link_rules<TakesOldConnections>()},
      {"believe_damaged_payloads", {}, reads_what_is_damaged()},
      {"write_what_is_lent", {}, lender<WaitsForNobody>()},
      {"drop_what_came_before", {}, borrower<DropsWhatCameBefore>()},
      {"believe_the_place_of_a_loan", {}, borrower<BelievesThePlace>()},
      {"believe_the_use_of_a_loan", {}, borrower<BelievesTheUse>()},
      {"dial_once", {}, settings([](LinkSettings& all) {
         all.times.first_redial = all.times.slowest_redial = never;
       })},
      {"wait_for_ever_for_an_answer", {}, settings([](LinkSettings& all) {
         all.times.handshake = never;
       })},
      {"notice_no_silence", {}, settings([](LinkSettings& all) { all.times.dead_after = never; })},
      {"no_sign_of_life", {}, settings([](LinkSettings& all) { all.times.heartbeat = never; })},
      {"no_patience_at_the_end", {}, settings([](LinkSettings& all) {
         all.times.patience = Time{0};
       })},
      {"patience_without_end", {}, settings([](LinkSettings& all) {
         all.times.patience = all.times.farewell = never;
       })},
      {"refuse_successors", {}, settings([](LinkSettings& all) { all.successors = false; })},
      {"believe_any_clock", {}, settings(believe_any_clock)},
      clock_of_anybody("believe_any_clock_on_a_matching", 6),
      clock_of_anybody("believe_any_clock_on_an_odd_matching", 5),
      {"keep_without_limit", {}, settings([](LinkSettings& all) {
         all.most_unacknowledged_bytes = std::numeric_limits<std::uint64_t>::max();
       })},
      {"one_name_for_all_lives", {}, settings([](LinkSettings& all) { all.self.incarnation = 1; })},
  };
}

}  // namespace gv::mutants
