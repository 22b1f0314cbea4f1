#include <fmt/format.h>

#include "optim/data/sets/text.h"
#include "peer/fleet/data/data_reader.h"
#include "peer/fleet/file/value.h"

namespace gv {
namespace {

void read_text_keys(DataReading& from) {
  constexpr const char* help = "a text, whose last tenth will be the test set";
  const Value* const file = from.map.take("file");
  from.data.context = from.whole("context");
  from.data.file = from.path(file, "file", help);
  if (from.data.file.empty()) return;
  if (const std::string missing = no_file(from.data.file); !missing.empty())
    from.source.error(*file, fmt::format("no such file: {}", missing), help);
}

}  // namespace

DataKind text_kind() {
  return {
      .kind = "text",
      .form = DataForm::text,
      .summary = "a file of your own",
      .keys = {{.name = "file",
                .takes = "a file, from the fleet file's folder",
                .help = "file with the samples"},
               {.name = "context",
                .takes = "bytes",
                .number = whole_number(64, 1, 1'000'000),
                .help = "number of bytes that a prediction is based on; a letter beyond ASCII has "
                        "two or more bytes",
                .example = "data: { kind: text, file: book.txt, context: 8 }"}},
      .read = read_text_keys,
      .files = [](const DataSpec& data) { return std::vector{data.file}; },
      .load = [](const DataSpec& data, const Rng&) { return read_text(data.file, data.context); }};
}

}  // namespace gv
