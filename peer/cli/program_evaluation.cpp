#include "peer/cli/program_evaluation.h"

#include <memory>
#include <stdexcept>
#include <utility>

#include "peer/cli/asked_fleet.h"
#include "peer/cli/this_program.h"
#include "peer/fleet/sections.h"
#include "peer/launch/program/start_file.h"

namespace gv::cli {

Evaluation evaluate_by_program(const std::string& path,
                               const std::string& run_folder,
                               FleetOptions options,
                               const std::string& digest) {
  Fleet spec = read_file(options);
  if (!digest.empty()) check_again(run_folder, spec, digest);
  std::unique_ptr<Scout> scout;
  const Assembly fleet = assemble_to_run(std::move(spec), options, peer_program(), scout);
  if (!scout || !scout->introduction().evaluates)
    throw std::invalid_argument(
        about_program(fleet.fleet,
                      "its program says nothing of how good a model is",
                      "give `evaluate=` to DistributedOptimizer, or load the run's model.pt"));
  return scout->evaluate(read_values(path, model_of(scout->introduction(), {})));
}

}  // namespace gv::cli
