// Messages of neighbours about verbs and transfers, in any order: whatever they claim, each call of
// the peer ends once, and with the size that it began with.
#include <cstring>
#include <memory>

#include "gossip/verbs/transfers.h"
#include "gossip/verbs/verbs.h"
#include "optim/check.h"
#include "optim/replica/host_replica.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/gossip/still_world.h"

namespace gv::fuzz {
namespace {

/// Peer 0 of a ring of three, below peer 1 in the tree and above peer 2.
class Told {
 public:
  explicit Told(Input& input) : input_(input), replica_(small_replica()) {
    Plan plan;
    plan.peers = 3;
    plan.rounds = 100;
    plan.neighborhood = {
        .self = 1.0 / 3, .peers = {1, 2}, .weights = {1.0 / 3, 1.0 / 3}, .receivers = {1, 2}};
    plan.verbs = VerbTree{.parent = 1, .children = {2}, .averages = true};
    peer_ = std::make_unique<Peer>(plan, world_, journal_, *replica_);
  }
  void go() {
    for (int step = 0; step < 200 && !input_.empty(); ++step) {
      switch (input_.below(8)) {
        case 0:
          begin_verb();
          break;
        case 1:
          begin_transfer();
          break;
        case 2:
          lose();
          break;
        default:
          hear();
      }
      GV_CHECK(world_.sent.size() < 20'000, "what is said ends");
    }
    for (const PeerId other : {1U, 2U}) peer_->died(other);
    GV_CHECK(transfers_ == 0, "nobody waits for the dead");
  }

 private:
  static std::unique_ptr<Replica> small_replica() {
    QuadraticSpec spec;
    spec.dimension = 1;
    spec.noise = 0;
    return make_host_replica(make_quadratic(spec, 0, 3, Rng(1)), {}, 1, Rng(1));
  }
  /// Returns a length, now and then around that of a piece.
  std::size_t length() {
    constexpr std::size_t around[] = {
        0, 4, 8, 16, verb_piece_bytes - 8, verb_piece_bytes, verb_piece_bytes + 8};
    return around[input_.below(std::size(around))];
  }
  void begin_verb() {
    VerbCall call{.op = VerbOp(input_.below(4)),
                  .type = VerbType(input_.below(4)),
                  .root = static_cast<PeerId>(input_.below(4)),
                  .mark = input_.below(2),
                  .data = std::vector<std::byte>(length() + input_.below(2))};
    if (verbs_ > 0 || !peer_->verbs().objection(call).empty()) return;
    ++verbs_;
    const std::size_t bytes = call.data.size();
    peer_->verbs().begin(std::move(call), [this, bytes](const VerbEnd& end) {
      GV_CHECK(verbs_-- == 1, "one verb at a time, which ends once");
      check_data(end, bytes);
    });
  }
  void begin_transfer() {
    VerbCall call{.op = VerbOp::transfer,
                  .type = VerbType(input_.below(4)),
                  .root = static_cast<PeerId>(input_.below(4)),
                  .mark = input_.below(2),
                  .data = std::vector<std::byte>(length())};
    if (!peer_->transfers().objection(call).empty()) return;
    ++transfers_;
    const bool pushes = input_.flag();
    const std::size_t bytes = pushes ? 0 : call.data.size();
    const auto ended = [this, bytes, once = std::make_shared<bool>(false)](const VerbEnd& end) {
      GV_CHECK(!std::exchange(*once, true), "a transfer ends once");
      --transfers_;
      check_data(end, bytes);
    };
    pushes ? peer_->transfers().push(std::move(call), ended)
           : peer_->transfers().pull(std::move(call), ended);
  }
  static void check_data(const VerbEnd& end, std::size_t bytes) {
    GV_CHECK(end.data.size() == (end.why == VerbEnd::Why::done ? bytes : 0),
             "an outcome is as long as its call");
  }
  void lose() {
    const PeerId from = neighbor();
    switch (input_.below(3)) {
      case 0:
        return peer_->died(from);
      case 1:
        return peer_->replaced(from);
      default:
        peer_->deliver({from, Kind::goodbye, 0, input_.byte(), nullptr});
    }
  }
  PeerId neighbor() { return input_.flag() ? 1 : 2; }
  void hear() {
    const PeerId from = neighbor();
    const std::uint64_t number = input_.flag() ? input_.below(4) : input_.number();
    const auto part = static_cast<std::uint32_t>(input_.below(8));
    const auto payload = std::make_shared<Buffer>(verb_word_bytes + length());
    if (input_.flag()) {
      write(word(), {payload->data(), payload->size()});
    } else {
      const auto raw = input_.bytes(verb_word_bytes);
      std::memcpy(payload->data(), raw.data(), raw.size());
    }
    peer_->deliver({from, Kind::verb, number, part, payload});
  }
  VerbWord word() {
    return {.step = VerbStep(input_.below(6)),
            .op = VerbOp(input_.below(5)),
            .type = VerbType(input_.below(4)),
            .why = VerbEnd::Why(input_.below(6)),
            .peer = static_cast<PeerId>(input_.below(4)),
            .bytes = length() + length(),
            .mark = input_.below(2)};
  }

  Input& input_;
  StillWorld world_;
  WholeJournal journal_;
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<Peer> peer_;
  int verbs_ = 0;      ///< number of pending verbs
  int transfers_ = 0;  ///< number of transfers under way
};

}  // namespace
}  // namespace gv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  gv::fuzz::Told(input).go();
  return 0;
}
