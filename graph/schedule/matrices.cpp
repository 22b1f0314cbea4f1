#include "graph/formats/matrix_file.h"
#include "graph/schedule/family.h"
#include "graph/schedule/periodic_schedule.h"
#include "graph/spectrum/bounded.h"

// The user's own W_0, W_1, ..., over and over: time-varying averaging as in Nedic & Ozdaglar,
// "Distributed subgradient methods for multi-agent optimization", IEEE TAC 2009, whose union over a
// period must connect all peers.

namespace gv {
namespace {

constexpr GraphParameter matrices_parameters[] = {
    {"file",
     GraphParameter::Kind::path,
     0,
     0,
     0,
     "path of the file, relative to the fleet file: .npy of shape (rounds, n, n), else n lines of "
     "n numbers for each round"}};

std::unique_ptr<MixingSchedule> make_matrices(const ScheduleSpec& spec, PeerId n) {
  std::vector<MixingMatrix> matrices = read_matrices(spec.parameters.text("file"), n);
  for (std::size_t k = 0; k < matrices.size(); ++k)
    require_bounded(matrices[k], "W_" + std::to_string(k));
  return std::make_unique<PeriodicSchedule>(std::move(matrices));
}

}  // namespace

extern constinit const ScheduleFamily matrices_family{
    .name = "matrices",
    .summary = "your own W of each round from a file, over and over; each doubly stochastic",
    .parameters = matrices_parameters,
    .example = "rounds.npy",
    .make = make_matrices,
};

}  // namespace gv
