// Transitions from an actor or a memory, and errors from a learner, in both forms.
#include <cmath>
#include <cstring>

#include "optim/check.h"
#include "optim/rl/served_memory.h"
#include "tests/fuzz/fuzz_input.h"

namespace gv {
namespace {

constexpr std::size_t most_rows = 5;

void check(const Drawn& rows, const TransitionForm& form, const Buffer& packed) {
  const std::size_t count = rows.rows();
  GV_CHECK(count > 0 && count <= most_rows, "as many as may come");
  GV_CHECK(packed.size() == count * form.bytes(), "nothing is left over");
  GV_CHECK(rows.seen.size() == count * form.numbers, "all that is seen");
  GV_CHECK(rows.next.size() == rows.seen.size(), "before and behind");
  for (std::size_t k = 0; k < count; ++k) {
    GV_CHECK(rows.actions[k] < form.actions, "an action that there is");
    GV_CHECK(std::isfinite(rows.rewards[k]), "a reward");
    GV_CHECK(rows.futures[k] >= 0 && rows.futures[k] <= 1, "a discount");
    GV_CHECK(std::isfinite(rows.weights[k]) && rows.weights[k] >= 0, "a size");
  }
  for (const auto* const seen : {&rows.seen, &rows.next})
    for (const float v : *seen)
      GV_CHECK(form.binary ? v == 0 || v == 1 : std::isfinite(v), "what can be seen");
}

}  // namespace
}  // namespace gv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  const gv::TransitionForm form{.numbers = 3, .actions = 4, .binary = input.flag()};
  const auto bytes = input.rest();
  gv::Buffer packed(bytes.size());
  if (!bytes.empty()) std::memcpy(packed.data(), bytes.data(), bytes.size());
  if (const auto rows = gv::unpack_transitions(packed, form, gv::most_rows))
    gv::check(*rows, form, packed);
  if (const auto errors = gv::unpack_errors(packed, gv::most_rows))
    for (const float error : *errors)
      GV_CHECK(std::isfinite(error) && error >= 0, "the size of an error");
  return 0;
}
