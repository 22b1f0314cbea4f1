#include "peer/cli/embed/measured_program.h"

#include "peer/cli/embed/fault.h"

namespace gv::embed {

std::uint16_t MeasuredProgram::attach(std::span<const gv_tensor> tensors, const AttachWords&) {
  tensors_ = read_tensors(tensors);
  state_.attached = true;
  return 0;
}

Turn MeasuredProgram::turn(const gv_told* done, int) {
  if (!state_.attached) throw Fault(GV_E_USE, "gv_turn comes after gv_attach");
  if (done != nullptr) check_told(*done);
  if (done != nullptr && at_hand_ != Turn::over) end_turn();
  if (at_hand_ == Turn::none) at_hand_ = watch_.next();
  if (at_hand_ == Turn::over && tell_) std::exchange(tell_, nullptr)(watch_.seconds_per_step());
  return at_hand_;
}

}  // namespace gv::embed
