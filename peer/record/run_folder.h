#pragma once

#include <string>

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

}  // namespace gv
