#include "peer/fleet/data/data_reader.h"

namespace gv {
namespace {

void read_quadratic_keys(DataReading& from) {
  QuadraticSpec& q = from.data.quadratic;
  from.servers();
  q.dimension = from.whole("dimension");
  q.noise = from.number("noise");
  q.spread = from.number("spread");
  q.start = from.number("start");
  if (const Value* const hessian = from.map.take("hessian"))
    q.hessian = read_numbers(from.source, *hessian, 1e-12, 1e12);
  if (const Value* const validation = from.map.take("validation"))
    from.source.error(*validation, "a quadratic has no samples, and is evaluated exactly");
}

}  // namespace

DataKind quadratic_kind() {
  return {.kind = "quadratic",
          .form = DataForm::oracle,
          .summary = "drawn at random",
          .keys = {{.name = "dimension",
                    .number = whole_number(16, 1, 1'000'000'000),
                    .help = "number of coordinates of x",
                    .example = "data: { kind: quadratic, dimension: 4 }"},
                   {.name = "noise",
                    .number = any_number(1, 0, 1e6),
                    .help = "standard deviation of the gradient noise"},
                   {.name = "spread",
                    .number = any_number(0, 0, 1e6),
                    .help = "standard deviation of the peers' own optima",
                    .example = "data: { kind: quadratic, spread: 1 }"},
                   {.name = "start",
                    .number = any_number(0, -1e6, 1e6),
                    .help = "initial value of each coordinate of x",
                    .example = "data: { kind: quadratic, start: 5 }"},
                   {.name = "hessian",
                    .takes = "a list of numbers, 1e-12 to 1e12",
                    .usual = "[1]",
                    .help = "diagonal of the Hessian, repeated up to the dimension",
                    .example = "data: { kind: quadratic, hessian: [1, 0.1] }"}},
          .read = read_quadratic_keys,
          .divided = false};
}

}  // namespace gv
