#pragma once

#include <string>
#include <vector>

namespace gv::tidy {

/// A source file of the tree, its path from the root.
struct File {
  std::string path;
  std::vector<std::string> lines;
};

/// "graph/mixing/mixing.cpp:12: what is wrong"
using Findings = std::vector<std::string>;

/// An include against the diagram: graph and optim stand alone, gossip on both, gpu on optim, peer
/// on all, nothing on peer.
Findings include_direction(const File& file);
/// Asio outside peer/wire/tcp and peer/**/{tcp,http,process}_*; Protobuf outside peer/wire/frame
/// and peer/model/onnx; yaml-cpp outside peer/fleet.
Findings library_placement(const File& file);
/// A line over 100 columns.
Findings line_length(const File& file);
/// A function over 70 lines.
Findings function_length(const File& file);
/// std::cout, rand() anywhere; random_device, system_clock outside peer/; a mutex in graph/, optim/
/// or gossip/; GV_CUDA outside gpu/.
Findings forbidden_words(const File& file);
/// A test's file where another test, run at the same time, may have its own.
Findings shared_scratch(const File& file);
/// An algorithm, a weight rule or a bound without its paper.
Findings missing_source(const File& file);
/// The compiler makes of a negated co_await a coroutine that is never resumed.
Findings negated_await(const File& file);

/// A path that only some machines have: a home, or where one distribution puts a program.
Findings machine_path(const File& file);

/// Every rule for sources.
Findings check(const File& file);

/// The .h, .cpp, .cu and .proto files below `root`, without build folders.
std::vector<File> read_tree(const std::string& root);
/// Returns those, and what else people write: scripts, documents, fleets, build files.
std::vector<File> read_texts(const std::string& root);

}  // namespace gv::tidy
