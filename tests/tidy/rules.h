#pragma once

#include <string>
#include <vector>

namespace gv::tidy {

/// A source file, with its path from the root.
struct File {
  std::string path;
  std::vector<std::string> lines;
};

/// "graph/mixing/mixing.cpp:12: what is wrong"
using Findings = std::vector<std::string>;
/// Returns the findings, each on a line.
std::string together(const Findings& findings);

/// Finds includes against the diagram: graph and optim use nothing, gossip both, gpu optim, peer
/// all, and nothing uses peer.
Findings include_direction(const File& file);
/// Finds Asio outside peer/wire/tcp and peer/**/{tcp,http,process}_*, Protobuf outside
/// peer/wire/frame and peer/model/onnx, yaml-cpp outside peer/fleet.
Findings library_placement(const File& file);
/// Finds lines over 100 columns.
Findings line_length(const File& file);
/// Finds functions over 70 lines.
Findings function_length(const File& file);
/// Finds std::cout and rand() anywhere; random_device and system_clock outside peer/; a mutex in
/// graph/, optim/ or gossip/; GV_CUDA outside gpu/.
Findings forbidden_words(const File& file);
/// Finds test files at a path that another test may use at the same time.
Findings shared_scratch(const File& file);
/// Finds algorithms, weight rules and bounds without a paper.
Findings missing_source(const File& file);
/// Finds negated co_awaits: the compiler makes them coroutines that are never resumed.
Findings negated_await(const File& file);

/// Finds paths that only some machines have: a home, or a distribution's place for programs.
Findings machine_path(const File& file);

/// Applies every rule for sources.
Findings check(const File& file);

/// Returns the .h, .cpp, .cu and .proto files below `root`, without build folders.
std::vector<File> read_tree(const std::string& root);
/// Returns these files, and other files that people write: scripts, documents, fleets, build files.
std::vector<File> read_texts(const std::string& root);

}  // namespace gv::tidy
