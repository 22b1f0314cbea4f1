#include "peer/fleet/target_spec.h"

#include <fmt/format.h>

namespace gv {

std::string to_string(const TargetSpec& target) {
  const bool accuracy = target.figure == TargetSpec::Figure::accuracy;
  const char* name = accuracy ? "accuracy" : "loss";
  if (target.whose == TargetSpec::Whose::worst) name = "worst local accuracy";
  if (target.whose == TargetSpec::Whose::local) name = "mean loss of local models";
  std::string text = fmt::format("{} {:.6g}", name, target.value);
  if (target.in_a_row == 2) text += " twice in a row";
  if (target.in_a_row > 2) text += fmt::format(" {} times in a row", target.in_a_row);
  return text;
}

}  // namespace gv
