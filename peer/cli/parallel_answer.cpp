#include "peer/cli/parallel_answer.h"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/fleet/model_profile.h"
#include "peer/json/json.h"
#include "peer/predict/parallel/counted_profile.h"
#include "peer/predict/parallel/proposals.h"
#include "peer/report/chains_view.h"
#include "peer/report/screen.h"
#include "peer/report/wrapped.h"
#include "peer/runtime/exit_code.h"
#include "peer/sweep/free_memory.h"

namespace gv::cli {
namespace {

std::shared_ptr<const ModelProfile> profile_for(const Assembly& fleet, const std::string& path) {
  if (path.empty() && fleet.fleet.profile) return fleet.fleet.profile;
  if (path.empty()) return std::make_shared<const ModelProfile>(counted_profile(fleet));
  auto profile = std::make_shared<const ModelProfile>(read_profile(path));
  const NeuralNetwork network = make_network(fleet.fleet.model, *fleet.data.train);
  if (const std::string why = objection_to(*profile, network); !why.empty())
    throw std::runtime_error(fmt::format("{}: {}", path, why));
  return profile;
}

Json json_of(const ParallelProposal& p) {
  return {{"stages", p.stages},
          {"place", p.place},
          {"chains", p.chains},
          {"batch", p.batch},
          {"microbatches", p.microbatches},
          {"ahead", p.ahead == ParallelSpec::all ? Json("all") : Json(p.ahead)},
          {"recompute", p.recompute},
          {"schedule", name_of(p.schedule)},
          {"vertical_sync", p.vertical_sync},
          {"seconds_per_round", p.seconds_per_round},
          {"samples_per_second", p.samples_per_second},
          {"idle", p.idle},
          {"bytes_per_round", p.bytes_per_round},
          {"memory_bytes", p.memory_bytes},
          {"bottleneck", p.bottleneck}};
}

void print_json(const Assembly& fleet, const ParallelAdvice& advice) {
  Json proposals = Json::array();
  Json copies = Json::array();
  for (const ParallelProposal& p : advice.proposals) proposals.push_back(json_of(p));
  for (const ParallelProposal& p : advice.data_parallel) copies.push_back(json_of(p));
  fmt::print("{}\n",
             Json{{"schema", "grapevine.plan-parallel/1"},
                  {"name", fleet.fleet.name},
                  {"proposals", proposals},
                  {"data_parallel", copies},
                  {"alone", json_of(advice.alone)},
                  {"batch_to_hide", advice.batch_to_hide},
                  {"advice", name_of(advice.way)},
                  {"why", advice.why}}
                 .dump());
}

void print_row(const std::string& way, const ParallelProposal& p, bool pipeline) {
  const std::string batch =
      p.chains == 1 ? fmt::format("{}", p.batch) : fmt::format("{} x {}", p.chains, p.batch);
  fmt::print("{:<13} {:>9} {:>3} {:>5} {:>10} {:>3.0f} % {:>9} {:>9} {:>9.4g}\n",
             way,
             batch,
             pipeline ? fmt::format("{}", p.microbatches) : "-",
             pipeline ? ahead_text(p.ahead) : "-",
             seconds_text(p.seconds_per_round),
             100 * p.idle,
             bytes_text(p.bytes_per_round),
             bytes_text(p.memory_bytes),
             p.samples_per_second);
}

std::string parallel_text(const ParallelProposal& p) {
  const std::string schedule =
      p.schedule == ParallelSpec::Schedule::flush
          ? fmt::format("microbatches: {}, ahead: {}", p.microbatches, ahead_text(p.ahead))
          : fmt::format("schedule: {}{}",
                        name_of(p.schedule),
                        p.vertical_sync ? ", vertical_sync: true" : "");
  return fmt::format("parallel: {{ stages: [{}], {}{} }}",
                     fmt::join(p.stages, ", "),
                     schedule,
                     p.recompute ? ", recompute: true" : "");
}

void print_text(const ParallelAdvice& advice, bool measured) {
  fmt::print("{:<13} {:>9} {:>3} {:>5} {:>10} {:>5} {:>9} {:>9} {:>9}\n",
             "way",
             "batch",
             "m",
             "ahead",
             "round",
             "idle",
             "sent/peer",
             "memory",
             "samples/s");
  for (const ParallelProposal& p : advice.proposals)
    print_row(fmt::format("{} stages", p.stages.size()), p, true);
  for (const ParallelProposal& p : advice.data_parallel) print_row("a model each", p, false);
  print_row(fmt::format("peer {} alone", advice.alone.place.front()), advice.alone, false);
  for (const ParallelProposal& p : advice.proposals)
    fmt::print("{}",
               wrapped(fmt::format("{} stages: {}; held up by {}",
                                   p.stages.size(),
                                   fmt::join(p.stages, " | "),
                                   p.bottleneck),
                       7) +
                   "\n");
  if (advice.batch_to_hide > 0)
    fmt::print("note   averaging hides behind a gradient of {:.4g} samples a peer and round\n",
               advice.batch_to_hide);
  if (!measured)
    fmt::print("{}\n",
               wrapped("note   seconds are by floating-point operations: `grapevine profile FILE "
                       "-o PROFILE` measures them, and --profile PROFILE takes them",
                       7));
  fmt::print("{}\n", wrapped(fmt::format("advice {}: {}", name_of(advice.way), advice.why), 7));
  if (advice.way != ParallelAdvice::Way::pipeline) return;
  fmt::print("for the fleet file:\n  {}\n", parallel_text(advice.proposals.front()));
}

}  // namespace

int divide_model(const Assembly& fleet, const std::string& profile, bool json) {
  if (!fleet.data.train || find_model(fleet.fleet.model.kind).network == nullptr)
    throw std::invalid_argument(
        fmt::format("--parallel: model `{}` has no layers between which it could be divided",
                    fleet.fleet.model.kind));
  if (const std::string why = objection_to_chains(*fleet.algorithm, *fleet.setup); !why.empty())
    throw std::invalid_argument(fmt::format("--parallel: {}", why));
  const std::shared_ptr<const ModelProfile> known = profile_for(fleet, profile);
  const auto free = static_cast<double>(free_memory().value_or(0));
  const ParallelAdvice advice = advise_parallel(fleet, known, free);
  const bool measured = !profile.empty() || fleet.fleet.profile != nullptr;
  json ? print_json(fleet, advice) : print_text(advice, measured);
  return exit_code::done;
}

}  // namespace gv::cli
