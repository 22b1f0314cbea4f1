#include <fmt/format.h>

#include "optim/data/sets/decoded.h"
#include "optim/data/sets/image_sets.h"
#include "peer/fleet/data/data_reader.h"
#include "peer/fleet/file/value.h"

namespace gv {
namespace {

void read_cifar10_keys(DataReading& from) {
  constexpr const char* help =
      "the folder of data_batch_1.bin to data_batch_5.bin and test_batch.bin, or of train.csv "
      "and test.csv; nothing is downloaded";
  const Value* const dir = from.map.take("dir");
  from.data.dir = from.path(dir, "dir", help);
  if (from.data.dir.empty()) return;
  if (const std::string missing = no_folder(from.data.dir); !missing.empty())
    from.source.error(*dir, fmt::format("no such folder: {}", missing), help);
}

}  // namespace

DataKind cifar10_kind() {
  return {.kind = "cifar10",
          .form = DataForm::pictures,
          .summary = "the published CIFAR-10 pictures",
          .keys = {{.name = "dir",
                    .takes = "a folder, from the fleet file's",
                    .help = "folder with the published files"}},
          .read = read_cifar10_keys,
          .files = [](const DataSpec& data) { return cifar10_files(data.dir); },
          .load =
              [](const DataSpec& data, const Rng&) {
                return decoded(decoded_folder(), "cifar10 1", cifar10_files(data.dir),
                               [&] { return read_cifar10(data.dir); });
              }};
}

}  // namespace gv
