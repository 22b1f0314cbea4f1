// Metadata of a saved model, as in a safetensors file; the input has a file for each key.
#include <array>
#include <stdexcept>

#include "optim/check.h"
#include "peer/model/card/model_card.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

namespace {

/// Checks that every size in the description of new rows is bounded.
void check(const gv::Dataset& like) {
  GV_CHECK(like.rows == 0 && like.features > 0, "features of no rows");
  GV_CHECK(like.classes <= 256 && like.vocabulary.size() <= 256, "few classes");
  GV_CHECK_EQUAL(like.shift.size(), like.scale.size(), "a scale for a shift");
  if (!like.facts || like.facts->columns.empty()) return;
  GV_CHECK_EQUAL(like.facts->features(), like.features, "columns for the features");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array<const char*, 10> keys{"model", "data",   "input", "classes", "columns",
                                             "table", "rounds", "peer",  "fleet",   "schema"};
  gv::fuzz::Input input(data, size);
  std::map<std::string, std::string> metadata{
      {"schema", "grapevine.model/1"}, {"seed", "1"}, {"rounds", "1"}};
  for (const char* const key : keys)
    if (!input.empty()) metadata[key] = input.file();
  try {
    const gv::ModelCard card = gv::read_card("a", metadata);
    if (card.like) check(*card.like);
  } catch (const std::runtime_error& e) {
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
