#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "gossip/registry.h"

namespace gv {

// Methods from outside the tree: a shared object with rows, which a fleet file names as `plugin`.

/// The table that a plug-in shows of itself, as `grapevine_plugin`.
struct Plugin {
  /// plugin_mark and the hash of the sources whose headers it was compiled with (`--version` says
  /// the program's). It is looked for in the file, before any of its code is run.
  const char* sources;
  const AlgorithmRow* const* rows;
  std::size_t count;
};
inline constexpr char plugin_mark[] = "grapevine plug-in of sources ";

/// Puts rows behind those of the tree, once, for as long as the program runs. Returns why not: a
/// row is not whole, or a kind is there already; "" when they are in. Not to be called while
/// another thread looks at algorithms().
std::string add_algorithms(std::span<const AlgorithmRow* const> rows);

}  // namespace gv

/// Ends a plug-in's source, outside of all namespaces: GRAPEVINE_PLUGIN(&my_row, &other). The
/// headers that `find_package(Grapevine)` finds define GRAPEVINE_SOURCES.
#define GRAPEVINE_PLUGIN(...)                                                             \
  namespace {                                                                             \
  const gv::AlgorithmRow* const grapevine_plugin_rows[] = {__VA_ARGS__};                  \
  }                                                                                       \
  extern "C" __attribute__((visibility("default"))) const gv::Plugin grapevine_plugin = { \
      "grapevine plug-in of sources " GRAPEVINE_SOURCES,                                  \
      grapevine_plugin_rows,                                                              \
      sizeof(grapevine_plugin_rows) / sizeof(grapevine_plugin_rows[0])};
