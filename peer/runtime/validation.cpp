#include "peer/runtime/validation.h"

#include "optim/data/set_apart.h"
#include "peer/fleet/data/data_kind.h"

namespace gv {

std::shared_ptr<const Dataset> take_validation(const Fleet& fleet,
                                               const DataSpec& data,
                                               TrainTest& sets) {
  if (!data.validates() || !sets.train) return nullptr;
  if (data.validation == 0)
    return find_data_kind(data.kind).validation.value().read(data, *sets.train);
  const TrainValidation apart =
      set_apart(*sets.train, data.validation, Rng(fleet.seed).derive("validation"));
  sets.train = apart.train;
  return apart.validation;
}

}  // namespace gv
