// The folder of a run from a stranger: run.json, metrics.jsonl, summary.json, totals.json, a peer's
// record of its rounds and, without a launcher, of its reports.
#include <stdexcept>

#include "peer/launch/launcher/peer_reports.h"
#include "peer/record/report/metrics.h"
#include "peer/record/runs/peer_totals.h"
#include "peer/record/runs/stored_run.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

namespace {

template <class Read>
void attempt(Read read) {
  try {
    read();
  } catch (const std::runtime_error& e) {
    gv::fuzz::check_refusal(e);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gv::fuzz::Files files;
  gv::fuzz::Input input(data, size);
  files.write("run.json", input.file());
  const std::string metrics = files.write("metrics.jsonl", input.file());
  files.write("summary.json", input.file());
  files.write("peers/000/totals.json", input.file());
  files.write("peers/000/rounds.0.npy", input.file());
  files.write("peers/000/moments.0.npy", input.file());
  files.write("peers/000/reports.jsonl", input.file());
  attempt([&] { gv::read_stored_run(files.folder()); });
  attempt([&] { gv::read_metrics(metrics); });
  attempt([&] { gv::read_peer_rounds(files.folder(), 0); });
  attempt([&] { gv::read_peer_moments(files.folder(), 0); });
  attempt([&] { gv::read_reports(files.folder() + "/peers/000"); });
  return 0;
}
