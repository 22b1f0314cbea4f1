#include "gpu/cuda_replica.h"

namespace gv {

bool cuda_trains(const ModelSpec& model) {
  return find_model(model.kind).network != nullptr;
}

}  // namespace gv
