#pragma once

#include <string>

#include "optim/error_text.h"

namespace gv {

/// Says why a peer may not keep its books in this folder, nor go on from the checkpoints in it: it
/// is a link, so that somebody else says where it leads, or everybody may write there, so that
/// everybody says what the peer goes on from. "": it may, or there is no such folder yet; ours are
/// made for their owner alone. Looks at the folder and its `checkpoints`, not above them.
Verdict folder_objection(const std::string& folder);

}  // namespace gv
