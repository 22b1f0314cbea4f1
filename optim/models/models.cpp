#include "optim/models/model.h"

namespace gv {

// Each row is in the file with its name: mlp_model.cpp and so on.
ModelRow mlp_model();
ModelRow softmax_model();
ModelRow lenet5_model();
ModelRow resnet20_model();
ModelRow transformer_model();
ModelRow logistic_model();
ModelRow linear_model();
ModelRow quadratic_model();

const std::vector<ModelRow>& models() {
  static const std::vector<ModelRow> table{mlp_model(),      softmax_model(),     lenet5_model(),
                                           resnet20_model(), transformer_model(), logistic_model(),
                                           linear_model(),   quadratic_model()};
  return table;
}

}  // namespace gv
