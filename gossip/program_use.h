#pragma once

#include <cstdint>
#include <string_view>

namespace gv {

/// The things that a method asks of a program that brings its own gradients
/// (optim/train/program_replica.h), in each of its local steps. As a plug-in's row says nothing, it
/// is given all that there is.
struct ProgramUse {
  enum class Turns : std::uint8_t {
    gradient_and_step,   ///< in one; the last of several local steps may be apart
    gradient_then_step,  ///< with an exchange between them
    gradient,            ///< servers take the step, with the optimizer of the fleet file
  };
  enum class Gradients : std::uint8_t {
    kept,  ///< it never looks at them
    read,
    written,  ///< the program's step is by what it makes of them
  };
  Turns turns = Turns::gradient_and_step;
  Gradients gradients = Gradients::written;
  bool rate = true;                 ///< it needs the rate of the program's next step
  std::string_view objection = {};  ///< why no program can train by it; "": they can
};

/// Steps of the program's own, with its own gradients, which nobody else sees.
inline constexpr ProgramUse whole_steps{
    ProgramUse::Turns::gradient_and_step, ProgramUse::Gradients::kept, false};
/// The same, with an exchange of models behind each gradient.
inline constexpr ProgramUse split_steps{
    ProgramUse::Turns::gradient_then_step, ProgramUse::Gradients::kept, false};
/// The program's steps, by gradients that the method has made of its own.
inline constexpr ProgramUse changed_gradients{
    ProgramUse::Turns::gradient_then_step, ProgramUse::Gradients::written, false};

/// The words of these, as `grapevine algorithms --json` has them.
std::string_view name_of(ProgramUse::Turns turns);
std::string_view name_of(ProgramUse::Gradients gradients);

}  // namespace gv
