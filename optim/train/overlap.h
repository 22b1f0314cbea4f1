#pragma once

#include "optim/buffer.h"

namespace gv {

/// What a replica does behind its caller's back, where its device has hands of its own. The calls
/// come from the home lane as all others of the replica, but for end_gradient().
class Overlap {
 public:
  virtual ~Overlap() = default;
  /// Begins Replica::gradient() at x as it is, and returns. Until end_gradient() has returned no
  /// other gradient begins, nothing is evaluated and nothing is saved; vectors may be read and
  /// changed as ever, with the effect that they would have behind the gradient.
  virtual void begin_gradient() = 0;
  /// Returns when g is there, and loss() tells of it. It may be called from another thread than
  /// the others, and while they are.
  virtual void end_gradient() = 0;
  /// This vector is soon to be mixed in: it goes to the device already, where there is room, and is
  /// not held beyond the call. Who mixes it hands it in as if it had not been staged.
  virtual void stage(Payload piece) = 0;
};

}  // namespace gv
