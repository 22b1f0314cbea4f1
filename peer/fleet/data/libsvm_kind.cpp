#include <stdexcept>

#include <fmt/format.h>

#include "optim/data/libsvm.h"
#include "peer/fleet/data/data_reader.h"
#include "peer/fleet/file/value.h"

namespace gv {
namespace {

void read_libsvm_keys(DataReading& from) {
  constexpr const char* help =
      "samples in LIBSVM's format, `label column:value ...`; the last tenth is the test set, "
      "unless `test_file` names one";
  const Value* const file = from.map.take("file");
  const Value* const test = from.map.take("test_file");
  from.data.file = from.path(file, "file", help);
  if (test != nullptr) from.data.test_file = from.path(test, "test_file", help);
  for (const Value* value : {file, test}) {
    const std::string& path = value == file ? from.data.file : from.data.test_file;
    if (value == nullptr || path.empty()) continue;
    if (const std::string missing = no_file(path); !missing.empty())
      from.source.error(*value, fmt::format("no such file: {}", missing), help);
  }
}

std::vector<std::string> files(const DataSpec& data) {
  if (data.test_file.empty()) return {data.file};
  return {data.file, data.test_file};
}

/// Reads the validation set with the training set's width.
std::shared_ptr<const Dataset> libsvm_validation(const DataSpec& data, const Dataset& train) {
  auto rows = std::make_shared<Dataset>(*read_libsvm(data.file, data.validation_file).test);
  if (rows->features > train.features)
    throw std::runtime_error(
        fmt::format("{}: has column {}, and the last one of the training set is {}; leave such "
                    "columns out",
                    data.validation_file, rows->features, train.features));
  rows->features = train.features;
  return rows;
}

}  // namespace

DataKind libsvm_kind() {
  return {.kind = "libsvm",
          .form = DataForm::sparse,
          .summary = "a file of your own",
          .keys = {{.name = "file",
                    .takes = "a file, from the fleet file's folder",
                    .help = "file with the samples"},
                   {.name = "test_file",
                    .takes = "a file",
                    .usual = "(the last tenth of `file`)",
                    .help = "file with the test set",
                    .example = "data: { kind: libsvm, file: a.libsvm, test_file: a.libsvm }"}},
          .read = read_libsvm_keys,
          .files = files,
          .load = [](const DataSpec& data,
                     const Rng&) { return read_libsvm(data.file, data.test_file); },
          .validation = OwnValidation{.folder = false, .read = libsvm_validation}};
}

}  // namespace gv
