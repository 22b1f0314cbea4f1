#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gossip/seam/message.h"
#include "gossip/seam/setup.h"
#include "gossip/seam/task.h"
#include "gossip/seam/traffic.h"
#include "graph/mixing/mixing.h"

namespace gv {

/// The things that a method needs from a program that brings its own gradients
/// (optim/replica/program_replica.h), in each of its local steps. The defaults give everything to a
/// plug-in's row that does not declare them.
struct ProgramUse {
  enum class Turns : std::uint8_t {
    gradient_and_step,   ///< both in one turn; the last of several local steps may be apart
    gradient_then_step,  ///< with an exchange between them
    gradient,            ///< servers take the step, with the optimizer of the fleet file
  };
  enum class Gradients : std::uint8_t {
    kept,  ///< the method never reads the gradients
    read,
    written,  ///< the method changes the gradients before the program steps by them
  };
  Turns turns = Turns::gradient_and_step;
  Gradients gradients = Gradients::written;
  bool rate = true;                 ///< the method needs the rate of the program's next step
  std::string_view objection = {};  ///< why no program can train by this method; "" if programs can
};

/// The program takes its own steps with its own gradients, which no other peer sees.
inline constexpr ProgramUse whole_steps{ProgramUse::Turns::gradient_and_step,
                                        ProgramUse::Gradients::kept, false};
/// As whole_steps, with an exchange of models after each gradient.
inline constexpr ProgramUse split_steps{ProgramUse::Turns::gradient_then_step,
                                        ProgramUse::Gradients::kept, false};
/// The program takes steps by gradients that the method has computed.
inline constexpr ProgramUse changed_gradients{ProgramUse::Turns::gradient_then_step,
                                              ProgramUse::Gradients::written, false};

/// Names of the values, as in `grapevine algorithms --json`.
std::string_view name_of(ProgramUse::Turns turns);
std::string_view name_of(ProgramUse::Gradients gradients);

class Peer;

/// An algorithm is a straight-line function of one peer.
using Algorithm = Task<> (*)(Peer&);

/// A property of the fleet that holds whatever is late, lost or stopped, as long as no peer dies.
enum class Promise : std::uint8_t {
  nothing,    ///< each peer trains alone, or later rounds make up for what is missing
  mean,       ///< averaging keeps the sum of x; a peer that dies takes its own part along
  tracking,   ///< as `mean`, and what the peers remember of each other sums to zero; a death ends
              ///< that
  push_sum,   ///< the sums of the masses and of their weights stay; a dead peer's part is lost in
              ///< both
  agreement,  ///< after each operation all peers hold the same bits; a death ends the fleet
  once,  ///< the servers count each update once; a worker's death costs no other peer anything; a
         ///< server's death ends the fleet unless a successor takes over (AlgorithmRow::succeeds)
};

/// Kinds of compression that a method accepts as `codec`.
enum class Codecs : std::uint8_t {
  none,
  dense,  ///< codecs that send every element, because nothing makes up for elements left out
  all,
};

/// One method, in the file of its function.
struct AlgorithmRow {
  std::string_view kind;     ///< "d-psgd"
  std::string_view order{};  ///< "lian", or "" if the method has only one order
  Algorithm run = nullptr;
  /// Function of the servers, which do not train and together hold the fleet's model, and the
  /// number of servers. Null if the method has none.
  Algorithm serve = nullptr;
  PeerId (*servers)(const Settings&) = nullptr;
  /// True if the method averages with the neighbours of the topology, by their weights.
  bool mixes = false;
  /// True if edges must carry both ways. When a peer that was cut off is back, models jump; such a
  /// method takes the jumps for steps of the fleet, and they cancel only on two-way edges.
  bool undirected = false;
  /// True if peers may count by shares: x moves by flows and by the peer's own steps alone, so the
  /// weighted mean behaves like the plain mean.
  bool takes_shares = false;
  /// Returns the vectors that averaging carries and moves. Null if it carries x as it is.
  Traffic (*traffic)(const Setup&) = nullptr;
  Codecs codecs = Codecs::none;
  /// Returns the peers besides neighbours that peer i talks to, ascending. Null if there are none.
  std::vector<PeerId> (*links)(const Setup&, PeerId i) = nullptr;
  /// Returns the channels of the method's own messages, for models of d floats. Null if none.
  std::vector<Channel> (*channels)(const Setup&, std::size_t d) = nullptr;
  std::span<const Option> options{};
  /// Returns why the method cannot run in this fleet, and the nearest alternative that can; "" if
  /// it can run. w is null if W changes with the round, or if there is no W (Setup::push_sum). A
  /// null pointer means that the method can always run.
  std::string (*objection)(const Setup&, const MixingMatrix* w) = nullptr;
  /// Returns the optimizer of peer i, given train.optimizer, `usual`. Null if that is unchanged.
  OptimizerSpec (*optimizer)(OptimizerSpec usual, const Setup&, PeerId i) = nullptr;
  /// Returns the number of steps that the optimizer of peer i takes in a round; its rate schedule
  /// derives its end from it. Null if train.local_steps.
  double (*steps)(const Setup&, PeerId i) = nullptr;
  /// Returns the number of rounds after which the method repeats itself; `plan` averages bytes and
  /// seconds over one period. Null if each round does the same.
  Round (*period)(const Setup&) = nullptr;
  /// True if `robust.clip` bounds contributions to sums (norms.h), besides flows of averaging.
  bool clips_sums = false;
  /// True if peers train on samples that other peers send: then all peers are on the CPU.
  bool hands_samples = false;
  /// The method's requirements on programs that bring their own gradients.
  ProgramUse program{};
  Promise promise = Promise::nothing;
  /// True if new processes take the places of servers and workers that have died.
  bool succeeds = false;
  /// True if the method treats each coordinate independently. Peers may then hold a part of a model
  /// (chain.h), because the method does to the parts what it does to the whole.
  bool by_coordinate = false;
  bool synchronous = true;     ///< true if the bits over TCP and in virtual time are equal
  std::string_view summary{};  ///< one line, with the source
};

/// All methods; rows of one kind stand together, the usual order first.
std::span<const AlgorithmRow* const> algorithms();
/// Returns null if there is no such method. An empty order selects the first row of that kind.
const AlgorithmRow* find_algorithm(std::string_view kind, std::string_view order);

/// Returns why this row cannot run in a fleet, for whatever reason; "" if it can.
std::string objection_to(const AlgorithmRow& row, const Setup& setup, const MixingMatrix* w);

/// Returns why flows cannot be clipped (clipping.h) in a fleet of this row; "" if they can. Every
/// flow over an edge must be just a part of the distance between the models of its ends.
std::string objection_to_clipping(const AlgorithmRow& row, const Setup& setup);

/// Returns why programs that bring their own gradients cannot train by this row in this fleet, and
/// the nearest alternative that can; "" if they can.
std::string objection_to_program(const AlgorithmRow& row, const Setup& setup);

/// Returns why chains of peers cannot divide models by this row, and the nearest alternative that
/// can; "" if they can.
std::string objection_to_chains(const AlgorithmRow& row, const Setup& setup);

/// Returns whether a fleet of this row with these settings (defaults for the others) ends with the
/// same bits whichever peer is slow: false if some peers continue without the last.
bool has_same_bits(const AlgorithmRow& row, const Settings& settings);

/// Returns why a fleet cannot have these channels; "" if it can. A message is assigned to its
/// channel by its kind alone, so two channels of one kind would take each other's messages.
std::string objection_to(const std::vector<Channel>& channels);

/// Returns the traffic that carries x, in the fleet's codec.
Traffic encoded(const Setup& setup);

/// Runs a peer's whole life: the algorithm, then the goodbyes. A stage runs the algorithm only
/// until its chain has ended.
Task<> live(Peer& me, Algorithm run);

}  // namespace gv
