#include "optim/data/without_samples.h"

namespace gv {

std::shared_ptr<Dataset> without_samples(const Dataset& data) {
  auto like = std::make_shared<Dataset>();
  like->features = data.features;
  like->classes = data.classes;
  like->image = data.image;
  like->shift = data.shift;
  like->scale = data.scale;
  like->vocabulary = data.vocabulary;
  like->context = data.context;
  like->facts = data.facts;
  return like;
}

}  // namespace gv
