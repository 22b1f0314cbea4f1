#include "gpu/cuda_replica.h"

namespace gv {

bool cuda_trains(const ModelSpec& model) {
  return model.kind != "linear" && model.kind != "quadratic";
}

}  // namespace gv
