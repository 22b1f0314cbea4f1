#include "peer/runtime/assembly/assembly.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <new>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "gossip/chain.h"
#include "gossip/experience.h"
#include "gossip/supply.h"
#include "graph/mixing/share_weights.h"
#include "graph/schedule/schedule.h"
#include "graph/schedules.h"
#include "graph/weights.h"
#include "optim/data/data_facts.h"
#include "optim/data/table/table_problems.h"
#include "optim/rl/q_agent.h"
#include "optim/train/predictor.h"
#include "peer/fleet/data/data_reader.h"
#include "peer/fleet/digest.h"
#include "peer/fleet/fleet_setup.h"
#include "peer/model/tensors/tensor_file.h"
#include "peer/runtime/assembly/assembly_checks.h"
#include "peer/runtime/assembly/load_data.h"

namespace gv {
namespace {

/// Maximum number of parameters; with more, counting piece by piece would take minutes.
constexpr std::size_t most_parameters = 50'000'000'000;

[[noreturn]] void throw_all(const Fleet& fleet, const TableError& error) {
  std::vector<Diagnostic> all;
  for (const std::string& problem : error.problems())
    all.push_back({fleet.path + ": data", problem, "", ""});
  throw FleetError(fleet.path, std::move(all));
}

/// Digests the parameters, and the names of the columns and classes of a user's data: peers that
/// each read a table of their own must mean the same by each parameter.
std::string digest_of(const std::vector<Parameter>& parameters, const TrainTest& data) {
  std::string text;
  for (const Parameter& p : parameters)
    text += fmt::format("{}[{}];", p.name, fmt::join(p.shape, ","));
  if (data.train && data.train->facts) {
    const auto name = [&](const std::string& word) {
      text += fmt::format("{}:{};", word.size(), word);
    };
    for (const ColumnFacts& column : data.train->facts->columns) {
      name(column.name);
      std::ranges::for_each(column.levels, name);
    }
    std::ranges::for_each(data.train->facts->classes, name);
  }
  return digest_of_text(text);
}

/// Rounds per epoch, in which all peers together take as many samples as there are.
double rounds_per_epoch(const Fleet& fleet, const Setup& setup, double samples) {
  double taken = 0;
  for (PeerId m = 0; m < fleet.models(); ++m)
    taken += static_cast<double>(fleet.batch_of(m)) * setup.steps_of(m);
  return std::max(1.0, samples / taken);
}

Round round_up(double rounds) {
  return static_cast<Round>(std::max(1.0, std::ceil(rounds - 1e-9)));
}

Fleet with_servers(Fleet fleet) {
  add_servers(fleet);
  return fleet;
}

/// Number of the program's samples in the fleet file; 0 if not given.
std::uint32_t samples_of_program(const Fleet& fleet) {
  return fleet.data.kind == program_data().kind ? fleet.data.train : 0;
}

/// Divides only the number of samples: the programs know which classes each peer has.
Partition partition_of_program(const Fleet& fleet) {
  Dataset counted;
  counted.rows = samples_of_program(fleet);
  PartitionSpec spec = fleet.data.partition;
  if (spec.kind != "quantity") spec.kind = "iid";
  return partition(counted, fleet.trainers(), spec, Rng(fleet.seed).derive("partition"));
}

}  // namespace

Assembly::Assembly(Fleet fleet_, std::optional<PeerId> only, std::optional<ProgramModel> program)
    : fleet(with_servers(std::move(fleet_))),
      chains(fleet.chains()),
      trains_elsewhere_(program.has_value()),
      optimizer_(fleet.optimizer) {
  algorithm = find_algorithm(fleet.algorithm, fleet.order);
  if (algorithm == nullptr)
    refuse(fleet, "algorithm", fmt::format("unknown algorithm `{}`", fleet.algorithm));
  setup = std::make_shared<const Setup>(setup_of(fleet));
  for (PeerId i = 0; fleet.actors > 0 && i < fleet.trainers(); ++i)
    judged_.push_back(std::make_shared<FoundErrors>());
  try {
    make_mixing();
  } catch (const std::exception& e) {
    refuse(fleet, "topology", e.what());
  }
  if (const std::string why = objection_to(*algorithm, *setup, w ? &*w : nullptr); !why.empty())
    refuse(fleet, "algorithm", why);
  check_program();
  check_flows();
  check_attackers();
  check_samples();
  check_own_tables();
  check_cuts();
  if (program)
    take_program(std::move(*program));
  else
    load_parts(only);
  if (dimension > most_parameters)
    refuse(fleet, "model",
           fmt::format("{} parameters, and {} are the most: 200 GB of each vector of a peer",
                       dimension, most_parameters));
  if (const std::string why = objection_to(channels(0)); !why.empty())
    refuse(fleet, "algorithm", why);
  load_start();
  if (fleet.servers > dimension)
    refuse(fleet, "algorithm",
           fmt::format("{} servers for a model of {} parameters: take `servers: {}` at most",
                       fleet.servers, dimension, dimension));
  check_peer_weights(*this);
  check_shares(*this);
  check_clip_norm(*this);
  check_muon(*this);
  check_peer_devices(*this);
  if (!trains_elsewhere_) model_digest = digest_of(parameters, data);
  count_samples();
  count_rounds();
  if (trains_elsewhere_) make_verb_trees();
}

/// Loads the data, and makes the model for it.
void Assembly::load_parts(std::optional<PeerId> only) {
  try {
    LoadedData loaded = load_data(fleet, only);
    data = std::move(loaded.sets);
    validation = std::move(loaded.validation);
    partition = std::move(loaded.partition);
    if (!data.train && !fleet.agent && fleet.data.quadratic.dimension > 0)
      optimum_ = quadratic_optimum(fleet.data.quadratic, fleet.trainers(),
                                   Rng(fleet.seed).derive("quadratic"));
    const std::unique_ptr<Objective> first = whole_objective(0);
    parameters = first->parameters();
    dimension = first->size();
    if (fleet.parallel) division.emplace(fleet, *data.train);
  } catch (const FleetError&) {
    throw;
  } catch (const std::bad_alloc&) {
    refuse(fleet, "data", "data and model take more memory than this machine gives");
  } catch (const TableError& e) {
    throw_all(fleet, e);
  } catch (const std::exception& e) {
    refuse(fleet, "data", e.what());
  }
}

void Assembly::take_program(ProgramModel model) {
  model_digest = digest_of(model);
  parameters = std::move(model.parameters);
  orders = std::move(model.orders);
  start = std::move(model.start);
  program_flops_ = model.gradient_flops;
  dimension = gv::size_of(parameters);
  if (!start.empty() && start.size() != dimension)
    refuse(fleet, "program",
           fmt::format("a start of {} values for {} parameters", start.size(), dimension));
  if (samples_of_program(fleet) == 0) return;
  try {
    partition = partition_of_program(fleet);
  } catch (const std::exception& e) {
    refuse(fleet, "data", e.what());
  }
}

void Assembly::count_rounds() {
  const std::uint32_t own = data.train ? data.train->rows : samples_of_program(fleet);
  if (trains_elsewhere_ && own == 0 && (fleet.stop.epochs || fleet.evaluate_every_epochs))
    refuse(fleet, "data",
           "the length of an epoch is unknown: give `data: { samples: N }`, or write `stop` and "
           "`evaluate.every` in rounds");
  const double epoch = rounds_per_epoch(fleet, *setup, std::max(1U, own));
  rounds = std::numeric_limits<Round>::max();
  if (fleet.stop.rounds) rounds = *fleet.stop.rounds;
  if (fleet.stop.epochs) rounds = std::min(rounds, round_up(*fleet.stop.epochs * epoch));
  evaluate_every = fleet.evaluate_every_epochs ? round_up(*fleet.evaluate_every_epochs * epoch)
                                               : fleet.evaluate_every;

  const bool endless = rounds == std::numeric_limits<Round>::max();
  optimizer_.schedule.peers = fleet.models();
  const std::string& kind = optimizer_.schedule.kind;
  if (endless && (kind == "linear" || kind == "cosine" || kind == "lian")) {
    refuse(
        fleet, "train.optimizer.schedule",
        fmt::format("schedule `{}` needs to know the end: give stop.rounds or stop.epochs", kind));
  }
}

void Assembly::load_start() {
  if (fleet.start.empty() || trains_elsewhere_) return;
  try {
    start = start_values(fleet.start, parameters);
  } catch (const std::exception& e) {
    refuse(fleet, "model.start", e.what());
  }
}

void Assembly::count_samples() {
  Setup counted = *setup;
  for (PeerId i = 0; i < partition.size(); ++i) {
    const std::uint64_t rows = partition[i].size();
    const std::uint64_t batch = fleet.batch_of(i);
    counted.samples.push_back(rows);
    counted.epochs.push_back((rows + batch - 1) / batch);
  }
  counted.most_samples_bytes = most_samples_bytes();
  setup = std::make_shared<const Setup>(std::move(counted));
  if (setup->by_shares) take_shares();
}

void Assembly::make_mixing() {
  if (fleet.schedule) {
    schedule = make_schedule(*fleet.schedule, fleet.models());
    topology = schedule->topology(to_string(*fleet.schedule));
    schedule_of_peers_ =
        chains.peers() == 1 ? schedule : std::make_shared<const CopiesSchedule>(schedule, chains);
  } else {
    topology = build(fleet.topology, fleet.models());
    if (setup->push_sum) rows_ = push_sum_rows(topology);
    if (setup->by_shares) take_shares();
    if (rows_.empty()) w.emplace(mixing_matrix(fleet.weights, topology));
  }
  if (algorithm->promise == Promise::push_sum) take_push_weights();
}

void Assembly::take_push_weights() {
  const auto receivers = [&](Round round, PeerId i) {
    if (schedule) return schedule->row(round, i).receivers;
    return w ? w->row(i).receivers : rows_[i].receivers;
  };
  const auto overlap = setup->settings.find("overlap");
  push_weights_ = least_weights(
      fleet.models(), overlap == setup->settings.end() ? 0 : static_cast<Round>(overlap->second),
      receivers);
}

/// Peers have equal shares until their samples are counted.
void Assembly::take_shares() {
  shares = setup->shares();
  rows_ = share_rows(topology, shares);
}

std::size_t Assembly::most_samples_bytes() const {
  if (fleet.actors > 0) return setup->most_samples_bytes;
  if (!data.train) return 2 * dimension * sizeof(float);
  std::uint32_t batch = 0;
  for (PeerId i = 0; i < fleet.trainers(); ++i) batch = std::max(batch, fleet.peers[i].batch);
  return most_packed_bytes(*data.train, batch, fleet.data.augment.any());
}

/// Servers have the channels of the model of the peers that train.
std::vector<Channel> Assembly::channels(PeerId i,
                                        std::shared_ptr<const ExperiencePart> part) const {
  const std::optional<StagePlan> own = stage(i);
  std::vector<Channel> all;
  if (algorithm->channels != nullptr)
    all = algorithm->channels(*setup_for(i), own && division ? size_of(i) : dimension);
  if (own)
    for (Channel& channel : chain_channels(*own)) all.push_back(std::move(channel));
  if (fleet.data_servers == 0) return all;
  if (fleet.actors > 0) {
    for (Channel& channel : experience_channels(*setup, dimension, std::move(part)))
      all.push_back(std::move(channel));
    return all;
  }
  for (Channel& channel : supply_channels(*setup)) all.push_back(std::move(channel));
  return all;
}

Traffic Assembly::traffic() const {
  Traffic traffic = algorithm->traffic != nullptr ? algorithm->traffic(*setup) : Traffic{};
  traffic.robust = setup->clip;
  return traffic;
}

bool Assembly::is_plain_d_psgd() const {
  return algorithm->kind == "d-psgd" && traffic().plain() && fleet.data_servers == 0 &&
         !fleet.parallel && !setup->by_shares;
}

OptimizerSpec Assembly::optimizer(PeerId i) const {
  OptimizerSpec spec = optimizer_;
  if (algorithm->optimizer != nullptr) spec = algorithm->optimizer(spec, *setup, i);
  const double steps =
      algorithm->steps != nullptr ? algorithm->steps(*setup, i) : fleet.local_steps;
  if (algorithm->steps == nullptr) {
    spec.schedule.own_steps = setup->steps_of(i);
    spec.schedule.mean_steps = fleet.local_steps;
  }
  const bool endless = rounds == std::numeric_limits<Round>::max();
  spec.schedule.total = endless ? 1 : round_up(static_cast<double>(rounds) * steps);
  return spec;
}

Share Assembly::everybodys_share() const {
  Share everybodys = share(0);
  everybodys.rows.resize(data.train->rows);
  std::iota(everybodys.rows.begin(), everybodys.rows.end(), 0U);
  return everybodys;
}

std::unique_ptr<Objective> Assembly::evaluator() const {
  return data.train ? make_objective(fleet.model, everybodys_share()) : objective(0);
}

/// The evaluator of each model is made once.
ModelJudge Assembly::model_judge() const {
  if (!division) return {};
  const auto own = std::make_shared<std::map<PeerId, std::unique_ptr<Objective>>>();
  return {.size = dimension, .evaluate = [this, own](PeerId model, std::span<const float> x) {
            std::unique_ptr<Objective>& evaluator = (*own)[model];
            if (!evaluator)
              evaluator = make_objective(fleet.model, share(chains.counterpart(0, model)));
            return evaluator->evaluate(x);
          }};
}

Aims Assembly::aims() const {
  Aims aims{.target = fleet.stop.target,
            .patience = fleet.stop.patience,
            .keep_best = fleet.keep_best,
            .models = model_judge()};
  if (fleet.agent)
    aims.frames = [this](PeerId i, std::uint64_t samples) {
      if (fleet.actors > 0) return std::uint64_t{0};  // actors report their frames
      return samples / fleet.peers.at(i).batch * fleet.agent->frames();
    };
  if (validation)
    aims.test = [this] {
      Share everybodys = everybodys_share();
      everybodys.test = data.test;
      return make_objective(fleet.model, std::move(everybodys));
    };
  return aims;
}

}  // namespace gv
