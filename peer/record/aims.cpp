#include "peer/record/aims.h"

#include <cmath>

namespace gv {

ProgressWatch::ProgressWatch(const Aims& aims) : patience_(aims.patience) {
  measure_.figure = aims.target ? aims.target->figure : TargetSpec::Figure::loss;
  measure_.whose = aims.target ? aims.target->whose : TargetSpec::Whose::mean;
}

bool ProgressWatch::see(std::optional<double> figure) {
  const bool accuracy = measure_.figure == TargetSpec::Figure::accuracy;
  const bool known = figure && std::isfinite(*figure);
  const bool better = known && (!best_ || (accuracy ? *figure > *best_ : *figure < *best_));
  since_ = better ? 0 : since_ + 1;
  if (better) best_ = figure;
  return better;
}

void ProgressWatch::recall(std::optional<double> figure) {
  see(figure);
  if (out_of_patience()) since_ = patience_ - 1;
}

}  // namespace gv
