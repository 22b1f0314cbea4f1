// A user's table: CSV, and the other formats that open_rows recognizes by their first bytes.
#include <stdexcept>

#include "optim/data/table/prepared_rows.h"
#include "optim/data/table/table_plan.h"
#include "tests/fuzz/dataset_check.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gv::fuzz::Files files;
  gv::fuzz::Input input(data, size);
  const std::uint8_t how = input.byte();
  gv::TableSpec spec;
  spec.file = files.write("a", input.file());
  spec.regression = (how & 1U) != 0;
  spec.standardize = (how & 2U) != 0;
  spec.missing = static_cast<gv::MissingValue>((how >> 2U) % 3);
  if ((how & 16U) != 0) spec.target = std::string("y");
  if ((how & 32U) != 0) spec.held_out = 0.5;
  if ((how & 64U) != 0) spec.ignore = {"x"};
  if ((how & 128U) != 0) spec.one_hot = {"c"};
  if (how % 5 == 4) spec.decimal = ',';
  if (how % 7 == 6 && (how & 128U) != 0) spec.dates = {"d"};
  if (!input.empty()) spec.test = files.write("b", input.file());
  try {
    gv::guess_task(spec);
    for (const std::string& warning : gv::table_warnings(spec))
      GV_CHECK(gv::is_printable(warning), "a warning is printable");
  } catch (const std::runtime_error& e) {
    gv::fuzz::check_refusal(e);
  }
  try {
    const gv::TrainTest sets = gv::read_table(spec, gv::Rng(1));
    gv::fuzz::check(sets);
    gv::prepare_rows(spec.file, {*sets.train->facts, spec.missing}, false);
    gv::fuzz::check(*gv::prepare_rows(spec.file, {*sets.train->facts, spec.missing}, true).data);
  } catch (const std::runtime_error& e) {
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
