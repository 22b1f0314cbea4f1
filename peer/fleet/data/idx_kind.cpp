#include <array>
#include <set>

#include <fmt/format.h>

#include "optim/data/data_facts.h"
#include "optim/data/sets/decoded.h"
#include "peer/fleet/data/data_reader.h"
#include "peer/fleet/file/value.h"

namespace gv {
namespace {

/// Uses the fallback's data if the folder is missing and a fallback is named.
void read_idx_keys(DataReading& from) {
  DataSpec& data = from.data;
  from.sizes();
  const Value* const dir = from.map.take("dir");
  set(from.map.take("fallback", "none"), data.fallback,
      [&](const Value& value) { return read_choice(from.source, value, {"digits"}); });
  data.dir =
      from.path(dir, "dir", "the folder of train-images-idx3-ubyte[.gz] and its three companions");
  const std::string missing = no_folder(data.dir);
  if (data.dir.empty() || missing.empty()) return;
  const std::string package = data.dir.find("fashion-mnist") == std::string::npos
                                  ? ""
                                  : "; Debian's package is dataset-fashion-mnist";
  if (data.fallback.empty())
    return from.source.error(*dir, fmt::format("no such folder: {}", missing),
                             fmt::format("install the data{}, or add `fallback: digits`", package));
  data.kind = data.fallback;
  if (from.notices != nullptr)
    from.notices->push_back(
        fmt::format("{} is not there: the built-in digits are used instead (accuracies differ{})",
                    data.dir, package));
}

/// Removes classes without samples: labels 0 and 7 become two classes, with these names. Labels
/// from 0 up without gaps stay unchanged.
TrainTest with_present_classes(const TrainTest& sets) {
  std::set<std::uint8_t> present(sets.train->labels.begin(), sets.train->labels.end());
  present.insert(sets.test->labels.begin(), sets.test->labels.end());
  if (present.size() == sets.train->classes) return sets;
  std::array<std::uint8_t, 256> places{};
  DataFacts facts{.format = "IDX", .target = ""};
  for (const std::uint8_t label : present) {
    places[label] = static_cast<std::uint8_t>(facts.classes.size());
    facts.classes.push_back(std::to_string(label));
  }
  const auto shared = std::make_shared<const DataFacts>(std::move(facts));
  const auto named = [&](const Dataset& from) {
    auto set = std::make_shared<Dataset>(from);
    for (std::uint8_t& label : set->labels) label = places[label];
    set->classes = static_cast<std::uint32_t>(shared->classes.size());
    set->facts = shared;
    return set;
  };
  return {named(*sets.train), named(*sets.test)};
}

}  // namespace

DataKind idx_kind() {
  return {.kind = "idx",
          .form = DataForm::pictures,
          .summary = "the MNIST family",
          .keys = with_sizes(
              {{.name = "dir",
                .takes = "a folder, from the fleet file's",
                .help = "folder with the published files"},
               {.name = "fallback",
                .takes = "digits",
                .usual = "none",
                .help = "data to use if the folder is missing; none: a missing folder is an error",
                .example =
                    "data: { kind: idx, dir: /usr/share/datasets/fashion-mnist, fallback: digits "
                    "}"}}),
          .read = read_idx_keys,
          .files = [](const DataSpec& data) { return idx_files(data.dir); },
          .load =
              [](const DataSpec& data, const Rng&) {
                return with_present_classes(decoded(decoded_folder(), "idx 1", idx_files(data.dir),
                                                    [&] { return read_idx(data.dir); }));
              }};
}

}  // namespace gv
