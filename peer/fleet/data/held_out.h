#pragma once

#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/file/value.h"

namespace gv {

/// The test samples: either a set of their own (`test`) or a part of the training samples
/// (`held_out`, between 0 and 1), which is `part` afterwards. Nothing where the key is missing.
inline void read_held_out(Source& source, const Value* test, const Value* held_out, double& part) {
  if (held_out == nullptr) return;
  if (test != nullptr)
    source.error(*held_out, "`held_out` and `test` are two test sets", "take one of them");
  part = read_fraction(source, *held_out).value_or(part);
  if (part <= 0 || part >= 1)
    source.error(*held_out, "a part between 0 and 1 is held out", "write `held_out: 20 %`");
}

/// Its row, for people.
inline DataKey held_out_key() {
  return {.name = "held_out",
          .takes = "a fraction between 0 and 1, or percent",
          .usual = "20 %",
          .help = "part of the samples that becomes the test set, drawn by the seed",
          .example = "data: { kind: table, file: a.csv, target: y, held_out: 30 % }"};
}

}  // namespace gv
