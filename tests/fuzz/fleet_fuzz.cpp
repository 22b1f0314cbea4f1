// A fleet file, through every reader to a checked fleet.
#include <cctype>

#include "optim/check.h"
#include "peer/fleet/fleet.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

namespace {

/// A fleet of 10,000 peers is valid but takes seconds: long numbers are for other targets.
bool is_large(std::string_view text) {
  int digits = 0;
  for (const char c : text) {
    digits = std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
    if (digits > 3) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = gv::fuzz::Input(data, size).text();
  if (is_large(text)) return -1;  // not kept in the corpus either
  try {
    const gv::Fleet fleet = gv::read_fleet_text(std::string(text));
    GV_CHECK(!fleet.peers.empty() && fleet.digest.size() == 32, "a whole fleet");
    GV_CHECK(fleet.trainers() > 0 && fleet.trainers() <= fleet.size(), "somebody trains");
  } catch (const gv::FleetError& e) {
    GV_CHECK(!e.diagnostics().empty(), "an error says what is wrong");
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
