#pragma once

#include <string>

namespace gv {

/// Paths on the machine that builds the tests. Only one source (places.cpp) knows them, so that the
/// compiler's cache serves every folder in which the project lies.
std::string source_folder();      ///< root of the project
std::string grapevine_program();  ///< the program
std::string canary_program();     ///< the program with one planted bug

}  // namespace gv
