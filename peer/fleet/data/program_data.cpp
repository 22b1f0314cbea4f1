#include "peer/fleet/data/program_data.h"

#include "peer/fleet/data/data_reading.h"
#include "peer/fleet/keys/key_ranges.h"

namespace gv {

const DataKind& program_data() {
  const KeyRange& samples = key_range("data.samples");
  static const DataKind row{
      .kind = "program",
      .form = DataForm::oracle,
      .summary = "a program's own",
      .keys = {{.name = "samples", .number = whole_number(0, samples.least, samples.most)}},
      .read = [](DataReading& from) {
        from.map.take("kind");     // is refused beside `program` (program_reader.h)
        from.map.take("servers");  // and so is this
        from.data.train = from.whole("samples");
        from.data.test = 0;
      }};
  return row;
}

}  // namespace gv
