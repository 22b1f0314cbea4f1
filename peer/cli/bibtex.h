#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gv::cli {

/// Returns the papers of a method, or of a name under which methods train agents
/// (peer/fleet/read/algorithm_reader.h), as BibTeX entries; none for unknown ones such as plug-ins.
std::vector<std::string> bibtex_of(std::string_view kind);

}  // namespace gv::cli
