#pragma once

#include <cstdint>
#include <string>

namespace gv {

/// The condition under which a run counts as having arrived.
struct TargetSpec {
  enum class Figure : std::uint8_t { accuracy, loss };
  enum class Whose : std::uint8_t { mean, local, worst };
  Figure figure = Figure::accuracy;
  Whose whose = Whose::mean;  ///< the mean model; local: mean loss of models; worst: accuracy
  double value = 0;           ///< accuracy: at least, a fraction; loss: at most
  /// True for an agent, whose loss is minus its return: `value` is minus the one that is asked for.
  bool as_return = false;
  std::uint32_t in_a_row = 1;  ///< evaluations that must be there, one after the other
  bool operator==(const TargetSpec&) const = default;

  /// Returns the value as it is asked for: of a return itself, not minus it.
  double asked() const { return as_return ? -value : value; }
  bool holds(double measured) const {
    return figure == Figure::accuracy ? measured >= value : measured <= value;
  }
};

/// "accuracy 0.88", "worst local accuracy 0.88", "mean loss of local models 0.3 twice in a row".
std::string to_string(const TargetSpec& target);
/// "accuracy.worst=0.88 for 2", as `compare --target` takes it.
std::string target_argument(const TargetSpec& target);

}  // namespace gv
