// A peer's key file: each of its three parts must be written back unchanged.
#include <stdexcept>

#include "optim/check.h"
#include "peer/wire/seal/tls_context.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const gv::PeerKeys keys = gv::parse_keys(gv::fuzz::Input(data, size).text(), "a");
    const gv::Secret text = gv::text_of(keys);
    const gv::PeerKeys again = gv::parse_keys(text, "b");
    GV_CHECK(again.key == keys.key && again.certificate == keys.certificate &&
                 again.authority == keys.authority,
             "the same again");
  } catch (const std::runtime_error& e) {
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
