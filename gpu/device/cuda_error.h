#pragma once

#include <stdexcept>
#include <string>

namespace gv {

/// A call of the CUDA runtime or one of its libraries failed: "[gpu] what: why (file:line)". The
/// device's state is unknown from then on; the replica must not be used any more.
struct CudaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace gv
