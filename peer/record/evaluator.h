#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <poll.h>

#include "optim/models/objective.h"

namespace gv {

/// The one who says how good a model is, at once or later. One question is open at a time.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Asks about a model; what was asked before needs no answer any more.
  virtual void ask(std::span<const float> x) = 0;
  /// The answer to the newest question, once; nothing: it is still to come.
  virtual std::optional<Evaluation> answer() = 0;
  /// Adds what is readable when an answer may have come.
  virtual void add_to(std::vector<pollfd>&) const {}
};

/// One that answers at once.
std::unique_ptr<Evaluator> make_evaluator(std::unique_ptr<Objective> objective);

}  // namespace gv
