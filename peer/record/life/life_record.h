#pragma once

#include <string>
#include <vector>

#include "optim/error_text.h"
#include "peer/record/life/recorder.h"

namespace gv {

/// The record of a process's life, on disk: written every ten seconds, so that a killed process
/// leaves all but its last ones, after rounds that somebody asked for, and at the end. Earlier
/// lives of the peer keep theirs.
class LifeRecord {
 public:
  /// `neighbors`: ascending. `folder` is the peer's own.
  LifeRecord(std::string folder,
             PeerId peer,
             std::vector<PeerId> neighbors,
             const RecordLimits& limits);

  /// See write_record.
  void set_epoch(Time epoch) { epoch_ = epoch; }
  Recorder& recorder() { return recorder_; }
  /// Empty, or why the record could not be written; said once.
  Verdict write_when_due(Time now);
  Verdict write();

 private:
  static constexpr Time every{std::chrono::seconds(10)};

  std::string folder_;
  std::uint64_t life_;  ///< a number that no file of the folder has
  std::vector<PeerId> neighbors_;
  Recorder recorder_;
  Time due_{every};
  Time epoch_{0};
  bool failed_ = false;
};

}  // namespace gv
