#pragma once

#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/file/value.h"

namespace gv {

/// Reads the fraction of the training samples for the test set (`held_out`, between 0 and 1) into
/// `part`; reports an error if there is a separate set (`test`) too. Changes nothing without
/// `held_out`.
inline void read_held_out(Source& source, const Value* test, const Value* held_out, double& part) {
  if (held_out == nullptr) return;
  if (test != nullptr)
    source.error(*held_out, "`held_out` and `test` are two test sets", "take one of them");
  part = read_fraction(source, *held_out).value_or(part);
  if (part <= 0 || part >= 1)
    source.error(*held_out, "the held-out part must be between 0 and 1", "write `held_out: 20 %`");
}

/// Returns the row of `held_out` for the reference.
inline DataKey held_out_key() {
  return {.name = "held_out",
          .takes = "a fraction between 0 and 1, or percent",
          .usual = "20 %",
          .help = "part of the samples that becomes the test set, drawn by the seed",
          .example = "data: { kind: table, file: a.csv, target: y, held_out: 30 % }"};
}

}  // namespace gv
