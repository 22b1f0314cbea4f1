#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "gossip/algorithm.h"
#include "peer/fleet/file/source.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

/// Returns the fleet file with these keys, one line per top-level key: the inverse of flat_keys.
/// Keys of one section need not be adjacent.
std::string fleet_text(const FlatKeys& keys);

/// Returns the value; empty if the key is missing.
std::string value_of(const FlatKeys& keys, std::string_view path);
void set_key(FlatKeys& keys, std::string_view path, std::string value);
/// Erases the key and all keys below it.
void erase_keys(FlatKeys& keys, std::string_view path);

/// A random fleet file, and the time during which faults are drawn.
struct DrawnFleet {
  FlatKeys keys;
  std::uint64_t until_ms = 500;  ///< virtual milliseconds
};

/// Draws from one number: a row of `rows` with its options, what it may be combined with (graph or
/// schedule, weights, codec, data, model, optimizer, batches, local steps), 3 to 9 peers, their
/// machines and speeds, a network, deadlines, checkpoints. `attempt`: number of earlier draws that
/// the reader refused. The same numbers give the same fleet.
DrawnFleet draw(std::uint64_t number,
                std::uint64_t attempt,
                std::span<const AlgorithmRow* const> rows);

/// Number of refusals by the refused key: methods do not accept every graph, codec and optimizer.
using Refusals = std::map<std::string, std::uint64_t>;

/// Reads a drawn text; returns null and counts a refusal if the reader refuses it. Throws
/// std::logic_error if it refuses a key that is valid with any other keys.
std::unique_ptr<Assembly> read_drawn(const std::string& text, Refusals& refusals);

/// Returns whether the models stay bounded without faults. If a fleet diverges by itself, values
/// that are not finite are no error of the peers, and rounding is as large as the values compared.
bool stays_small(const Assembly& fleet);

/// A drawn fleet that can run and be judged.
struct ReadyFleet {
  DrawnFleet drawn;
  std::unique_ptr<Assembly> fleet;
};

/// Draws until the reader accepts the file, as if a user had written it, the swarm has no objection
/// and an undisturbed run keeps its models bounded. Throws std::logic_error as read_drawn does, and
/// after too many attempts.
ReadyFleet draw_ready(std::uint64_t number,
                      std::span<const AlgorithmRow* const> rows,
                      Refusals& refusals);

/// Returns "d-psgd" or "d-psgd:atc".
std::string name_of_row(const AlgorithmRow& row);
/// Returns the rows of this name, or all orders of a kind. Throws std::invalid_argument.
std::vector<const AlgorithmRow*> rows_named(const std::string& name);

}  // namespace gv
