#include "gpu/replica/batches_ahead.h"

#include <utility>

namespace gv::gpu {

BatchesAhead::BatchesAhead(Minibatches batches, std::uint32_t batch)
    : used_(std::move(batches)), ahead_(used_), batch_(batch), rows_(ahead_.next(batch_)) {}

void BatchesAhead::step() {
  used_.next(batch_);
  rows_ = ahead_.next(batch_);
}

void BatchesAhead::restore(StateReader& in) {
  used_.restore(in);
  ahead_ = used_;
  rows_ = ahead_.next(batch_);
}

}  // namespace gv::gpu
