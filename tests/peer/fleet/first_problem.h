#pragma once

#include <string>

#include "peer/fleet/fleet.h"

namespace gv {

/// Returns the first problem that `read` finds in a fleet file, as place, words and help in one
/// string, or "" if it finds none.
template <class Read>
std::string first_problem(Read read) {
  try {
    read();
  } catch (const FleetError& e) {
    const Diagnostic& first = e.diagnostics().at(0);
    return first.where + " " + first.message + " " + first.help;
  }
  return "";
}

}  // namespace gv
