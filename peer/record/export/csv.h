#pragma once

#include <string>
#include <vector>

#include "peer/record/export/exported_run.h"

namespace gv {

/// One table of all runs (RFC 4180, lines end with CR LF): a line per evaluation, its run in the
/// first column. Where there are several runs, the columns behind it are what tells them apart: a
/// sweep's axes and the stage of each trial, and the keys of the fleet files in which they differ.
/// The columns of states are there where a run has recorded them; a cell that a run
/// does not know is empty.
std::string csv_of(const std::vector<ExportedRun>& runs);

/// A word of such a table, in quotes where it needs them.
std::string csv_word(const std::string& text);

}  // namespace gv
