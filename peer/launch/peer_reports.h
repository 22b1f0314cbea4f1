#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gossip/journal.h"

namespace gv {

/// The peer and the fleet that a folder of reports is of, and what the peer was started with.
struct ReportsOf {
  std::string digest;  ///< of the fleet
  PeerId peer = 0;
  PeerId peers = 0;
  std::string file;  ///< of the fleet, absolute
  std::vector<std::string> sets{};
};

/// The notes that a peer without a launcher takes of its reports, so that the run can be put
/// together: FOLDER/reports.jsonl says first whose they are, and then what each says, a line each,
/// as a launcher hears it (control.h); FOLDER/reports/7.f32 is the model of the seventh. Those of
/// evaluations are kept up to 256 MiB, and that of the end.
class PeerReports {
 public:
  /// `goes_on`: behind those of the peer's earlier lives; else they are taken away. Throws
  /// std::runtime_error with the path.
  PeerReports(std::string folder, const ReportsOf& whose, bool goes_on);

  /// Throws std::runtime_error with the path (a full disk).
  void keep(const Report& report);

 private:
  std::string folder_;
  std::size_t count_ = 0;
  std::uint64_t kept_bytes_ = 0;
};

/// A report whose model is still on disk.
struct KeptReport {
  Report report;      ///< without its model
  std::string model;  ///< the path; "": it was not kept
};

struct StoredReports {
  ReportsOf whose;
  std::vector<KeptReport> reports;
};

/// Throws std::runtime_error "path:line: what" where they make no sense; a last line that was cut
/// off is left out.
StoredReports read_reports(const std::string& folder);
/// The report with its model, of at most so many bytes. Throws std::runtime_error with the path.
Report load(const KeptReport& kept, std::size_t most_bytes);

}  // namespace gv
