#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "gossip/registry.h"

namespace gv {

// Methods from outside the tree: a shared object with rows, named by `plugin` in a fleet file.

/// The table that a plug-in exports as `grapevine_plugin`.
struct Plugin {
  /// plugin_mark and the hash of the sources whose headers it was compiled with (`--version` prints
  /// the program's). The program looks for it in the file before it runs any of the plug-in's code.
  const char* sources;
  const AlgorithmRow* const* rows;
  std::size_t count;
};
inline constexpr char plugin_mark[] = "grapevine plug-in of sources ";

/// Adds rows after those of the tree, once, for as long as the program runs. Returns why not: a row
/// is incomplete, or a kind exists already; "" if they were added. Not to be called while another
/// thread uses algorithms().
std::string add_algorithms(std::span<const AlgorithmRow* const> rows);

}  // namespace gv

/// Ends a plug-in's source, outside of all namespaces: GRAPEVINE_PLUGIN(&my_row, &other). The
/// headers that `find_package(Grapevine)` finds define GRAPEVINE_SOURCES.
#define GRAPEVINE_PLUGIN(...)                                                             \
  namespace {                                                                             \
  const gv::AlgorithmRow* const grapevine_plugin_rows[] = {__VA_ARGS__};                  \
  }                                                                                       \
  extern "C" __attribute__((visibility("default"))) const gv::Plugin grapevine_plugin = { \
      "grapevine plug-in of sources " GRAPEVINE_SOURCES, grapevine_plugin_rows,           \
      sizeof(grapevine_plugin_rows) / sizeof(grapevine_plugin_rows[0])};
