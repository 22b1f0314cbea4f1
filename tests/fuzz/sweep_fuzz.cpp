// A sweep file, and the cells that its axes make.
#include "optim/check.h"
#include "peer/study/sweep/plan/sweep_file.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gv::fuzz::Files files;
  [[maybe_unused]] static const std::string base = files.write("base.yaml", "version: 1\n");
  gv::Source source(files.write("sweep.yaml", gv::fuzz::Input(data, size).text()));
  const gv::SweepFile sweep = gv::read_sweep_file(source);
  if (!source.diagnostics().empty()) {
    gv::fuzz::check_refusal(gv::FleetError(source.path(), source.diagnostics()));
    return 0;
  }
  GV_CHECK(!sweep.name.empty() && !sweep.base.empty(), "a whole sweep");
  const auto cells = gv::cells_of(sweep.axes, sweep.skip);
  if (!cells) return 0;
  for (const gv::SweepCell& cell : *cells) {
    GV_CHECK_EQUAL(cell.labels.size(), sweep.axes.size(), "a label of each axis");
    for (const gv::CellPattern& pattern : sweep.skip)
      GV_CHECK(!gv::matches(pattern, cell.labels), "what is skipped is left out");
  }
  return 0;
}
