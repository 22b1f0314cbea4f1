#pragma once

#include <mutex>
#include <string>

#include "peer/cli/embed/program_words.h"

namespace gv::embed {

/// The log of what a program says of its training beside loss and accuracy: FOLDER/program.jsonl, a
/// line a call. Any thread.
class ProgramLog {
 public:
  explicit ProgramLog(const std::string& folder) : path_(folder + "/program.jsonl") {}
  /// Throws Fault (GV_E_FAILED) where the disk takes no more.
  void keep(Round round, const SayWords& words);

 private:
  std::mutex mutex_;
  std::string path_;
};

}  // namespace gv::embed
