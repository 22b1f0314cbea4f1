#include "peer/fleet/specs.h"

#include <fmt/format.h>

namespace gv {

std::string to_string(const TargetSpec& target) {
  const bool of_all = target.whose == TargetSpec::Whose::mean;
  const bool accuracy = target.figure == TargetSpec::Figure::accuracy;
  const char* name = accuracy ? "accuracy" : "loss";
  if (target.whose == TargetSpec::Whose::worst) name = "worst local accuracy";
  if (target.whose == TargetSpec::Whose::local) name = "mean loss of local models";
  if (target.as_return) name = of_all ? "return" : "mean return of local models";
  std::string text = fmt::format("{} {:.6g}", name, target.asked());
  if (target.in_a_row == 2) text += " twice in a row";
  if (target.in_a_row > 2) text += fmt::format(" {} times in a row", target.in_a_row);
  return text;
}

std::string target_argument(const TargetSpec& target) {
  const bool accuracy = target.figure == TargetSpec::Figure::accuracy;
  constexpr const char* whose[] = {"", ".local", ".worst"};
  return fmt::format("{}{}={}{}",
                     accuracy           ? "accuracy"
                     : target.as_return ? "return"
                                        : "loss",
                     whose[static_cast<std::size_t>(target.whose)], target.asked(),
                     target.in_a_row == 1 ? "" : fmt::format(" for {}", target.in_a_row));
}

}  // namespace gv
