#pragma once

#include <string>

namespace gv {

/// The places where things lie on the machine that builds the tests. They are known to one source
/// alone (places.cpp), so that the compiler's cache serves every folder that the project lies in.
std::string source_folder();      ///< the root of the project
std::string grapevine_program();  ///< the program
std::string canary_program();     ///< the program with one planted bug

}  // namespace gv
