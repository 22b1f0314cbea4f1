#include "peer/runtime/validation.h"

#include <stdexcept>

#include <fmt/format.h>

#include "optim/data/images/image_folder.h"
#include "optim/data/set_apart.h"
#include "optim/data/sparse.h"

namespace gv {
namespace {

/// Scaled by the training set's statistics, with the training set's values and classes.
std::shared_ptr<const Dataset> read_rows(const Fleet& fleet, TableSpec spec, const Dataset& train) {
  spec.test = fleet.data.validation_file;
  spec.held_out = 0;
  spec.given = train.facts;
  spec.given_by = "the training set";
  return read_table(spec, Rng(0)).test;
}

std::shared_ptr<const Dataset> read_pictures(const Fleet& fleet, const Dataset& train) {
  const DataSpec& data = fleet.data;
  auto pictures =
      std::make_shared<Dataset>(*read_images(find_images(data.dir, data.validation_file)).test);
  pictures->shift = train.shift;
  pictures->scale = train.scale;
  pictures->facts = train.facts;
  return pictures;
}

std::shared_ptr<const Dataset> read_sparse(const Fleet& fleet, const Dataset& train) {
  const DataSpec& data = fleet.data;
  auto rows = std::make_shared<Dataset>(*read_libsvm(data.file, data.validation_file).test);
  if (rows->features > train.features)
    throw std::runtime_error(
        fmt::format("{}: has column {}, and the last one of the training set is {}; leave such "
                    "columns out",
                    data.validation_file,
                    rows->features,
                    train.features));
  rows->features = train.features;
  return rows;
}

}  // namespace

std::shared_ptr<const Dataset> take_validation(const Fleet& fleet,
                                               const TableSpec& table,
                                               TrainTest& sets) {
  const DataSpec& data = fleet.data;
  if (!data.validates() || !sets.train) return nullptr;
  if (data.validation > 0) {
    const TrainValidation apart =
        set_apart(*sets.train, data.validation, Rng(fleet.seed).derive("validation"));
    sets.train = apart.train;
    return apart.validation;
  }
  if (data.kind == "images") return read_pictures(fleet, *sets.train);
  if (data.kind == "libsvm") return read_sparse(fleet, *sets.train);
  return read_rows(fleet, table, *sets.train);
}

}  // namespace gv
