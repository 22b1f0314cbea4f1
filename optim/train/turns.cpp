#include "optim/train/turns.h"

namespace gv {

void take(const Told& told, Told& known) {
  if (told.loss) known.loss = told.loss;
  if (told.rate) known.rate = told.rate;
  if (told.evaluation) known.evaluation = told.evaluation;
  if (told.state) known.state = told.state;
}

}  // namespace gv
