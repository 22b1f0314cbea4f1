#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gv::cli {

/// The papers of a method as BibTeX entries, or of the name under which methods train agents
/// (peer/fleet/agent_reader.h); none of one whose papers are not known here, such as a plug-in's.
std::vector<std::string> bibtex_of(std::string_view kind);

}  // namespace gv::cli
