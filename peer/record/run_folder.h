#pragma once

#include <optional>
#include <string>

#include "gossip/seam/message.h"
#include "graph/topology/topology.h"

namespace gv {

/// Folder with the output of a run, readable by its owner alone:
/// metrics.jsonl summary.json model.safetensors fleet.yaml peers/003/{pid,stderr.log,models/}
class RunFolder {
 public:
  /// Makes a new folder at `wanted`, or at `wanted`-2, -3, ... if it exists. Throws
  /// std::runtime_error with the path and the reason.
  static RunFolder make(const std::string& wanted);

  /// Opens an existing folder. Throws std::runtime_error with the path if there is none.
  static RunFolder open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Returns the path of peers/003, and makes the folder if it is missing.
  std::string peer(PeerId id) const;
  /// Writes a file's whole text, or changes nothing. Throws std::runtime_error with the path.
  void write(const std::string& name, const std::string& text) const;

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Writes to held.json the round whose checkpoints all peers of the run have and keep
/// (CheckpointStore::hold). If the write fails, the older file stays; that is no error.
void write_held_round(const RunFolder& folder, Round round);

/// Returns the round from which to resume a run that has lost peers for good. Later checkpoints of
/// the others were trained without those, and peers that were cut off may have trained the same
/// rounds alone. Returns nothing if no peer was lost, all were restarted, or no round is held.
std::optional<Round> round_before_loss(const std::string& run_folder);

}  // namespace gv
