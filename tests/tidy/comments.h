#pragma once

#include <string>
#include <vector>

#include "tests/tidy/rules.h"

namespace gv::tidy {

/// Counts the doc comments (blocks of ///) of these files.
std::size_t doc_comments(const std::vector<File>& tree);

/// Finds doc comments that begin with a fragment: with a word that begins a clause or a phrase
/// ("Of", "What", "Whether", "The same"), and no comma behind which a sentence could follow. Some
/// that it finds are whole sentences all the same, so a tree is held to a number of them and not to
/// none.
Findings fragments(const File& file);

}  // namespace gv::tidy
