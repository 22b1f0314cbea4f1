#pragma once

#include <array>
#include <cstdint>

#include "gossip/link/frames.h"
#include "peer/sim/fault_injector.h"
#include "peer/wire/lend/sharing.h"

namespace gv {

/// The ways in which a neighbour lies. Its frames are whole: only their meaning gives it away.
enum class Lie : std::uint8_t {
  clock,      ///< it is many rounds ahead
  questions,  ///< it asks for our model, again and again
  silence,    ///< nothing that we sent has come
  numbers,    ///< numbers and acknowledgements of messages that never were
  contents,   ///< parts, exchanges and degrees that cannot be, and loans of what it has not
};
inline constexpr std::array<Lie, 5> all_lies{
    Lie::clock, Lie::questions, Lie::silence, Lie::numbers, Lie::contents};

/// The frame as a liar sends it.
Frame distort(Frame frame, Lie lie, FaultInjector& injector);
Loan distort(Loan loan, Lie lie, FaultInjector& injector);

}  // namespace gv
