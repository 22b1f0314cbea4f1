#pragma once

#include <cstdint>

#include "optim/data/dataset.h"

namespace gv {

/// Hidden units of the teacher.
inline constexpr std::uint32_t teacher_width = 32;

/// Answers of a teacher: x ~ N(0, I), and the label is the largest output of a perceptron with one
/// hidden layer of `teacher_width` ReLU units and drawn weights, after adding `noise` N(0, 1) to
/// each output. Outputs have variance of about 1 before the noise, so `noise` has the same effect
/// for every number of features. The student learns the function itself: a small task that shows
/// optimization, not the data. Seung, Sompolinsky & Tishby, "Statistical mechanics of learning from
/// examples", Physical Review A 45, 1992. Throws std::invalid_argument for no features, and for
/// other than 2 to 256 classes.
TrainTest ask_teacher(std::uint32_t train,
                      std::uint32_t test,
                      std::uint32_t features,
                      std::uint32_t classes,
                      double noise,
                      Rng rng);

}  // namespace gv
