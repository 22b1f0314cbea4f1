#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "gossip/algorithm.h"
#include "peer/runtime/assembly.h"
#include "peer/sim/drawn/fleet_text.h"

namespace gv {

/// A fleet file that was drawn, and for how long faults are to be drawn in it.
struct DrawnFleet {
  FlatKeys keys;
  std::uint64_t until_ms = 500;  ///< virtual milliseconds
};

/// Draws from one number: a row of `rows` with its options, what the row may be combined with
/// (graph or schedule, weights, codec, data, model, optimizer, batches, local steps), 3 to 9 peers,
/// their machines and speeds, a network, deadlines, checkpoints. `attempt`: another one, where the
/// reader refused the last. The same numbers draw the same.
DrawnFleet draw(std::uint64_t number,
                std::uint64_t attempt,
                std::span<const AlgorithmRow* const> rows);

/// The number of times that the reader refused what was drawn, by the key that it refused: methods
/// do not take every graph, codec and optimizer.
using Refusals = std::map<std::string, std::uint64_t>;

/// The fleet of a text that was drawn; null: the reader refuses it, which is counted. Throws
/// std::logic_error when it refuses a key that is right whatever the others say.
std::unique_ptr<Assembly> read_drawn(const std::string& text, Refusals& refusals);

/// Says whether its models stay within bounds when nothing disturbs it. Faults only make worse what
/// diverges by itself: then values that are not finite are no fault of the peers', and rounding is
/// as large as what it is compared with.
bool stays_small(const Assembly& fleet);

/// A drawn fleet that can run and be judged.
struct ReadyFleet {
  DrawnFleet drawn;
  std::unique_ptr<Assembly> fleet;
};

/// Draws until the reader takes it, as a file that a user might have written, and until it can be
/// judged: until the swarm objects to nothing and an undisturbed run keeps its models within
/// bounds. Throws std::logic_error as read_drawn does, and when nothing comes of many attempts.
ReadyFleet draw_ready(std::uint64_t number,
                      std::span<const AlgorithmRow* const> rows,
                      Refusals& refusals);

/// Returns "d-psgd" or "d-psgd:atc".
std::string name_of_row(const AlgorithmRow& row);
/// Returns those that this names: of a kind without an order all. Throws std::invalid_argument.
std::vector<const AlgorithmRow*> rows_named(const std::string& name);

}  // namespace gv
