#include "peer/record/evaluator.h"

#include <utility>

namespace gv {
namespace {

class EvaluatorAtOnce : public Evaluator {
 public:
  explicit EvaluatorAtOnce(std::unique_ptr<Objective> objective)
      : objective_(std::move(objective)) {}

  void ask(std::span<const float> x) override { answer_ = objective_->evaluate(x); }
  std::optional<Evaluation> answer() override { return std::exchange(answer_, std::nullopt); }

 private:
  std::unique_ptr<Objective> objective_;
  std::optional<Evaluation> answer_;
};

}  // namespace

std::unique_ptr<Evaluator> make_evaluator(std::unique_ptr<Objective> objective) {
  return std::make_unique<EvaluatorAtOnce>(std::move(objective));
}

}  // namespace gv
