#pragma once

#include <stdexcept>
#include <string>

namespace gv::embed {

/// An error of the C interface: a code of grapevine_program.h (GV_E_...), and the text of gv_error.
struct Fault : std::runtime_error {
  Fault(int fault_code, const std::string& text) : std::runtime_error(text), code(fault_code) {}
  int code;
};

}  // namespace gv::embed
