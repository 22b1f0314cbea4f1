#pragma once

#include <cstdint>

#include "optim/data/dataset.h"

namespace gv {

/// Hidden units of the teacher.
inline constexpr std::uint32_t teacher_width = 32;

/// A teacher's answers: x ~ N(0, I), and the label is the largest output of a perceptron with one
/// hidden layer of `teacher_width` ReLU units and drawn weights, after `noise` N(0, 1) is added to
/// each output. Outputs have about variance 1 before the noise, so that it means the same for every
/// number of features. A student learns the function itself, which no row names: a small task on
/// which optimization, and not the data, is what is seen. Seung, Sompolinsky & Tishby, "Statistical
/// mechanics of learning from examples", Physical Review A 45, 1992. Throws std::invalid_argument
/// for no features, and for other than 2 to 256 classes.
TrainTest ask_teacher(std::uint32_t train,
                      std::uint32_t test,
                      std::uint32_t features,
                      std::uint32_t classes,
                      double noise,
                      Rng rng);

}  // namespace gv
