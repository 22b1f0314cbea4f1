#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "tests/scratch_folder.h"

// Fleet files for tests.

namespace gv {

inline std::string write_file(const std::string& name, const std::string& text) {
  static const ScratchFolder scratch;
  const std::string path = scratch.path() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

inline Fleet read(const std::string& text, const std::vector<std::string>& sets = {}) {
  return read_fleet(write_file("fleet.yaml", text), sets, nullptr);
}

inline std::vector<Diagnostic> problems(const std::string& text,
                                        const std::vector<std::string>& sets = {}) {
  try {
    read(text, sets);
  } catch (const FleetError& e) {
    return e.diagnostics();
  }
  return {};
}

/// A valid file of four lines.
inline const std::string sparse_data = "version: 1\npeers: 4\ndata: sparse\nstop: { rounds: 10 }\n";
inline const std::string quadratic =
    "version: 1\npeers: 4\ndata: quadratic\nstop: { rounds: 10 }\n";

}  // namespace gv
