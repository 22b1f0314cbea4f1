#pragma once

#include <string>
#include <vector>

#include "tests/tidy/rules.h"

namespace gv::tidy {

/// Counts the doc comments (blocks of ///) in files.
std::size_t doc_comments(const std::vector<File>& tree);

/// Finds doc comments that begin with a fragment: a word that begins a clause or a phrase ("Of",
/// "What", "Whether", "The same"), and no comma that a sentence could follow. Some findings are
/// whole sentences all the same, so a tree is limited to a number of findings, not to none.
Findings fragments(const File& file);

}  // namespace gv::tidy
