#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gossip/message.h"
#include "gossip/setup.h"
#include "gossip/task.h"
#include "gossip/traffic.h"
#include "graph/mixing/mixing.h"

namespace gv {

/// The things that a method asks of a program that brings its own gradients
/// (optim/train/program_replica.h), in each of its local steps. As a plug-in's row says nothing, it
/// is given all that there is.
struct ProgramUse {
  enum class Turns : std::uint8_t {
    gradient_and_step,   ///< in one; the last of several local steps may be apart
    gradient_then_step,  ///< with an exchange between them
    gradient,            ///< servers take the step, with the optimizer of the fleet file
  };
  enum class Gradients : std::uint8_t {
    kept,  ///< it never looks at them
    read,
    written,  ///< the program's step is by what it makes of them
  };
  Turns turns = Turns::gradient_and_step;
  Gradients gradients = Gradients::written;
  bool rate = true;                 ///< it needs the rate of the program's next step
  std::string_view objection = {};  ///< why no program can train by it; "": they can
};

/// Steps of the program's own, with its own gradients, which nobody else sees.
inline constexpr ProgramUse whole_steps{
    ProgramUse::Turns::gradient_and_step, ProgramUse::Gradients::kept, false};
/// The same, with an exchange of models behind each gradient.
inline constexpr ProgramUse split_steps{
    ProgramUse::Turns::gradient_then_step, ProgramUse::Gradients::kept, false};
/// The program's steps, by gradients that the method has made of its own.
inline constexpr ProgramUse changed_gradients{
    ProgramUse::Turns::gradient_then_step, ProgramUse::Gradients::written, false};

/// The words of these, as `grapevine algorithms --json` has them.
std::string_view name_of(ProgramUse::Turns turns);
std::string_view name_of(ProgramUse::Gradients gradients);

class Peer;

/// An algorithm is a straight-line function of one peer.
using Algorithm = Task<> (*)(Peer&);

/// What holds of a fleet whatever is late, lost or stopped, as long as nobody dies.
enum class Promise : std::uint8_t {
  nothing,    ///< each peer trains alone, or what is missing is made up for later
  mean,       ///< averaging does not change the sum of x; who dies takes its own part along
  tracking,   ///< the same, and what the peers remember of each other sums to zero; a death ends
              ///< that
  push_sum,   ///< the sums of the masses and of their weights do not change; who dies takes its own
              ///< part of both along
  agreement,  ///< after each operation all hold the same bits; a death ends the fleet
  once,       ///< the servers count each update once; a worker's death costs nobody else anything,
              ///< a server's ends the fleet, or its successor goes on (AlgorithmRow::succeeds)
};

/// Which ways of writing a vector in fewer bytes a method takes, as `codec`.
enum class Codecs : std::uint8_t {
  none,
  dense,  ///< those that send every element: what one leaves out is made up for by nobody
  all,
};

/// One method, in the file of its function.
struct AlgorithmRow {
  std::string_view kind;     ///< "d-psgd"
  std::string_view order{};  ///< "lian", or "" where there is only one
  Algorithm run = nullptr;
  /// Peers that serve beside those that train, and hold the fleet's model among them: what each of
  /// them runs, and how many there are. Null: none.
  Algorithm serve = nullptr;
  PeerId (*servers)(const Settings&) = nullptr;
  /// Whether it averages with the neighbours of the topology, by their weights.
  bool mixes = false;
  /// Whether it needs edges that carry both ways: it takes what models jump by, when a peer that
  /// was cut off is back, for a step of the fleet, and only there such jumps cancel.
  bool undirected = false;
  /// Whether peers may count by shares: x moves by flows and by its own steps alone, so that the
  /// weighted mean stays where the plain one does.
  bool takes_shares = false;
  /// What its averaging carries and moves; null: x as it is.
  Traffic (*traffic)(const Setup&) = nullptr;
  Codecs codecs = Codecs::none;
  /// Whom peer i talks to besides, ascending; null: nobody.
  std::vector<PeerId> (*links)(const Setup&, PeerId i) = nullptr;
  /// What its messages may be, for models of d floats; null: none beside averaging's.
  std::vector<Channel> (*channels)(const Setup&, std::size_t d) = nullptr;
  std::span<const Option> options{};
  /// Why it cannot run in this fleet, and the nearest thing that can; "" when it can. w: null where
  /// W changes with the round, or there is none (Setup::push_sum). Null: it always can.
  std::string (*objection)(const Setup&, const MixingMatrix* w) = nullptr;
  /// What peer i steps by, where the fleet file's train.optimizer is `usual`; null: that.
  OptimizerSpec (*optimizer)(OptimizerSpec usual, const Setup&, PeerId i) = nullptr;
  /// Steps that the optimizer of peer i takes in a round, from which its schedule knows the end;
  /// null: train.local_steps.
  double (*steps)(const Setup&, PeerId i) = nullptr;
  /// Rounds after which it does the same again: `plan` counts bytes and seconds over so many
  /// rounds. Null: each round does the same.
  Round (*period)(const Setup&) = nullptr;
  /// Whether `robust.clip` bounds what each peer gives to its sums (norms.h), beside the flows of
  /// averaging.
  bool clips_sums = false;
  /// Whether peers train on samples of others: then all are on the CPU.
  bool hands_samples = false;
  /// What it asks of programs that bring their own gradients.
  ProgramUse program{};
  Promise promise = Promise::nothing;
  /// Whether new processes take the places of servers and workers that have died.
  bool succeeds = false;
  /// Whether what it does to a coordinate depends on no other one, so that peers may hold a part of
  /// a model (chain.h): what it does to the parts is what it does to the whole.
  bool by_coordinate = false;
  bool synchronous = true;     ///< the same bits over TCP and in virtual time
  std::string_view summary{};  ///< one line, with the source
};

/// All methods; those of one kind stand together, the usual order first.
std::span<const AlgorithmRow* const> algorithms();
/// Null when there is none. An empty order takes the first row of that kind.
const AlgorithmRow* find_algorithm(std::string_view kind, std::string_view order);

/// Why this row cannot run in a fleet, whatever it is that speaks against it; "" when it can.
std::string objection_to(const AlgorithmRow& row, const Setup& setup, const MixingMatrix* w);

/// Why flows cannot be clipped (clipping.h) in a fleet of this row; "" when they can: where what
/// flows over an edge is a part of the distance between the models of its ends, and no more.
std::string objection_to_clipping(const AlgorithmRow& row, const Setup& setup);

/// Why programs that bring their own gradients cannot train by this row in this fleet, and the
/// nearest thing that can; "" when they can.
std::string objection_to_program(const AlgorithmRow& row, const Setup& setup);

/// Why chains of peers cannot divide models by this row, and the nearest thing that can; "" when
/// they can.
std::string objection_to_chains(const AlgorithmRow& row, const Setup& setup);

/// x, in the fleet's codec.
Traffic encoded(const Setup& setup);

/// A peer's whole life: the algorithm, then its last words. Of a stage whose chain has ended, the
/// algorithm until then.
Task<> live(Peer& me, Algorithm run);

}  // namespace gv
