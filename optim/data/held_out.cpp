#include "optim/data/held_out.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "optim/check.h"

namespace gv {

std::vector<std::uint32_t> held_out_rows(std::uint32_t rows, double part, Rng rng) {
  GV_CHECK(rows >= 2, "one sample cannot be divided");
  std::vector<std::uint32_t> drawn(rows);
  std::iota(drawn.begin(), drawn.end(), 0U);
  rng.shuffle(drawn);
  const double wanted = std::round(part * rows);
  drawn.resize(static_cast<std::size_t>(std::clamp(wanted, 1.0, rows - 1.0)));
  std::ranges::sort(drawn);
  return drawn;
}

}  // namespace gv
