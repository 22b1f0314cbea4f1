// State of a running run, as `top` reads it; writing and reading it again changes nothing.
#include <stdexcept>

#include "optim/check.h"
#include "peer/show/live/observed_run.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(gv::fuzz::Input(data, size).text());
  try {
    const std::string said = gv::json_of(gv::parse_view(gv::parse_json(text, "a run"))).dump();
    GV_CHECK(gv::json_of(gv::parse_view(gv::parse_json(said, "a run"))).dump() == said,
             "the same again");
  } catch (const std::exception& e) {
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
