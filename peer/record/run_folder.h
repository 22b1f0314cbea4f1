#pragma once

#include <optional>
#include <string>

#include "gossip/message.h"
#include "graph/topology/topology.h"

namespace gv {

/// The place where a run leaves what it made, for its owner alone:
///   metrics.jsonl summary.json model.safetensors fleet.yaml peers/003/{pid,stderr.log,models/}
class RunFolder {
 public:
  /// Makes a new folder at `wanted`, or `wanted`-2, -3, ... when there is one already. Throws
  /// std::runtime_error with the path and the reason.
  static RunFolder make(const std::string& wanted);

  /// One that is there. Throws std::runtime_error with the path when it is not.
  static RunFolder open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// peers/003, made with its models/ when it is not there yet.
  std::string peer(PeerId id) const;
  /// The whole text, or nothing changes. Throws std::runtime_error with the path.
  void write(const std::string& name, const std::string& text) const;

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Keeps in held.json of a run which round's checkpoints all of its peers have and keep
/// (CheckpointStore::hold). A disk that does not take it is no error: the older one stays.
void write_held_round(const RunFolder& folder, Round round);

/// Returns from where a run goes on that has lost peers for good: what the others kept later they
/// have trained without them, and who was cut off may have the same rounds, trained alone. Nothing
/// where no peer was lost, each was started again, or no round is held.
std::optional<Round> round_before_loss(const std::string& run_folder);

}  // namespace gv
