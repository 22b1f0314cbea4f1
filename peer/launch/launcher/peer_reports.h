#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gossip/seam/journal.h"

namespace gv {

/// Owner of a folder of reports: the peer and its fleet, and the arguments it was started with.
struct ReportsOf {
  std::string digest;  ///< digest of the fleet
  PeerId peer = 0;
  PeerId peers = 0;
  std::string file;  ///< absolute path of the fleet file
  std::vector<std::string> sets{};
};

/// Stores the reports of a peer without a launcher, so that the run can be put together later. The
/// first line of FOLDER/reports.jsonl names the owner, and each further line is one report in the
/// form that a launcher receives (control.h). FOLDER/reports/7.f32 is the model of the seventh
/// report. Models of evaluations are kept up to 256 MiB in all, the last model always.
class PeerReports {
 public:
  /// `goes_on`: appends to the reports of the peer's earlier lives, which are deleted otherwise.
  /// Throws std::runtime_error with the path.
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
  std::string model;  ///< its path; "" if it was not kept
};

struct StoredReports {
  ReportsOf whose;
  std::vector<KeptReport> reports;
};

/// Reads the reports, except a last line that was cut off. Throws std::runtime_error "path:line:
/// what" if they are invalid.
StoredReports read_reports(const std::string& folder);
/// Returns the report with its model (`most_bytes` at most). Throws std::runtime_error with the
/// path.
Report load(const KeptReport& kept, std::size_t most_bytes);

}  // namespace gv
