#include <fmt/format.h>

#include "optim/data/decoded.h"
#include "peer/fleet/data/data_reading.h"
#include "peer/fleet/file/named_path.h"
#include "peer/fleet/file/readers.h"

namespace gv {
namespace {

/// Where the folder is missing and a fallback is named, the data are that one's.
void read(DataReading& from) {
  DataSpec& data = from.data;
  from.sizes();
  const Value* const dir = from.map.take("dir");
  set(from.map.take("fallback"), data.fallback, [&](const Value& value) {
    return read_choice(from.source, value, {"digits"});
  });
  data.dir =
      from.path(dir, "dir", "the folder of train-images-idx3-ubyte[.gz] and its three companions");
  const std::string missing = no_folder(data.dir);
  if (data.dir.empty() || missing.empty()) return;
  const std::string package = data.dir.find("fashion-mnist") == std::string::npos
                                  ? ""
                                  : "; Debian's package is dataset-fashion-mnist";
  if (data.fallback.empty())
    return from.source.error(*dir,
                             fmt::format("no such folder: {}", missing),
                             fmt::format("install the data{}, or add `fallback: digits`", package));
  data.kind = data.fallback;
  if (from.notices != nullptr)
    from.notices->push_back(
        fmt::format("{} is not there: the built-in digits are used instead (accuracies differ{})",
                    data.dir,
                    package));
}

}  // namespace

DataKind idx_kind() {
  return {.kind = "idx",
          .form = DataForm::pictures,
          .summary = "the MNIST family",
          .keys = with_sizes(
              {{.name = "dir",
                .takes = "a folder, from the fleet file's",
                .help = "the published files"},
               {.name = "fallback",
                .takes = "digits",
                .usual = "an error",
                .help = "what is learnt where the folder is missing",
                .example =
                    "data: { kind: idx, dir: /usr/share/datasets/fashion-mnist, fallback: digits "
                    "}"}}),
          .read = read,
          .files = [](const DataSpec& data) { return idx_files(data.dir); },
          .load =
              [](const DataSpec& data, const Rng&) {
                return decoded(decoded_folder(), "idx 1", idx_files(data.dir), [&] {
                  return read_idx(data.dir);
                });
              }};
}

}  // namespace gv
