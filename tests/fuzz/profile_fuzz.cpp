// A profile of a model (`grapevine profile`): a profile that was read equals the one written, and
// has no negative, unordered or missing numbers.
#include "optim/check.h"
#include "peer/fleet/model_profile.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const gv::ModelProfile profile = gv::parse_profile(text, "profile.json");
    for (const gv::ModelProfile::Piece& piece : profile.pieces) {
      GV_CHECK_EQUAL(piece.forward_seconds.size(), profile.rows.size(), "a time for each");
      for (std::size_t k = 0; k < profile.rows.size(); ++k)
        GV_CHECK(piece.forward_seconds[k] >= 0 && piece.backward_seconds[k] >= 0, "times");
    }
    for (std::size_t k = 0; k < profile.pieces.size(); ++k)
      for (const std::uint32_t rows : {1U, 3U, 1000U})
        GV_CHECK(profile.forward(k, rows) >= 0 && profile.backward(k, rows) >= 0, "no less than 0");
    const std::string again = gv::profile_json(profile).dump();
    GV_CHECK(gv::profile_json(gv::parse_profile(again, "")).dump() == again, "the same again");
  } catch (const std::exception& refusal) {
    gv::fuzz::check_refusal(refusal);
  }
  return 0;
}
