#include "peer/fleet/digest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include "gossip/algorithm.h"
#include "graph/formats/graph_file.h"
#include "graph/schedules.h"
#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/file/source.h"

namespace gv {
namespace {

std::string hex_of(const XXH128_hash_t& hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// Incremental XXH3.
class Hash {
 public:
  Hash() { XXH3_128bits_reset(&state_); }
  template <class Number>
  void add(Number value) {
    XXH3_128bits_update(&state_, &value, sizeof value);
  }
  std::string hex() const { return hex_of(XXH3_128bits_digest(&state_)); }

 private:
  XXH3_state_t state_{};
};

void add_row(Hash& hash, const Neighborhood& row) {
  hash.add(static_cast<std::uint64_t>(row.peers.size()));
  for (std::size_t k = 0; k < row.peers.size(); ++k) {
    hash.add(row.peers[k]);
    hash.add(static_cast<float>(row.weights[k]));
  }
}

std::string graph_of(const Fleet& f) {
  if (f.schedule) {
    ScheduleSpec spec = *f.schedule;
    if (spec.topology.is_file()) spec.set_graph(file_topology(""));
    if (is_file(spec)) spec.parameters.set("file", std::string());
    return to_string(spec);
  }
  return f.topology.is_file() ? "file" : to_string(f.topology);
}

std::string weights_of(const Fleet& f) {
  if (f.schedule) return "its own";
  return f.weights.starts_with("file:") ? "file" : f.weights;
}

}  // namespace

std::string digest_of(const MixingMatrix& w) {
  Hash hash;
  for (PeerId i = 0; i < w.size(); ++i) add_row(hash, w.row(i));
  return hash.hex();
}

std::string digest_of(const MixingSchedule& schedule) {
  Hash hash;
  for (std::uint64_t k = 0; k < schedule.period(); ++k)
    for (PeerId i = 0; i < schedule.size(); ++i) add_row(hash, schedule.row(k, i));
  return hash.hex();
}

std::string digest_of(const Topology& graph) {
  Hash hash;
  for (const std::vector<PeerId>& peers : graph.neighbors) {
    hash.add(static_cast<std::uint64_t>(peers.size()));
    for (const PeerId peer : peers) hash.add(peer);
  }
  return hash.hex();
}

namespace {

std::string weights_of(const ClassWeights& weights) {
  if (weights.balanced) return "class weights balanced;";
  std::string text = "class weights ";
  for (const auto& [name, weight] : weights.named)
    text += fmt::format("{}:{} {} ", name.size(), name, weight);
  return text + ";";
}

/// Describes which samples are held out, the weights of the others, the bound of their gradients,
/// and how many count at once.
std::string samples_of(const Fleet& f) {
  std::string text;
  if (f.data.validates())
    text += fmt::format("validation {} {};", f.data.validation, f.data.validation_content);
  if (f.by_samples) text += "peers by samples;";
  if (f.optimizer.clip_norm > 0) text += fmt::format("clip norm {};", f.optimizer.clip_norm);
  if (f.optimizer.accumulate > 1) text += fmt::format("accumulate {};", f.optimizer.accumulate);
  return text;
}

/// Describes how the program is started; the content of its script is not part of the fleet.
std::string program_of(const ProgramSpec& program) {
  std::string text = fmt::format("program {}", counted_words(program.command));
  for (const auto& [name, value] : program.env) text += counted_words({name, value});
  return text + ";";
}

std::string agent_of(const AgentSpec& a) {
  const ExploreSpec& e = a.explore;
  const std::string actors = a.actors == 0
                                 ? std::string()
                                 : fmt::format("actors {} {} {} {};", a.actors, a.memories,
                                               a.samples_per_insert, a.model_every);
  return fmt::format("agent {} {} {} {} {} {} {} {} {} {} explore {} {} {} {} {};{}", a.environment,
                     a.steps, a.environments, a.discount, a.n_step, a.memory, a.warm_up, a.refresh,
                     a.priority, a.correction, e.from, e.to, e.over, e.base, e.power, actors);
}

/// Describes each peer's share of a round and of a model, but not the peers' places.
std::string work_of(const Fleet& f) {
  std::string text;
  if (!f.own_steps.empty()) text += fmt::format("steps {};", fmt::join(f.own_steps, ","));
  if (!f.parallel) return text;
  const ParallelSpec& p = *f.parallel;
  text += fmt::format("parallel {} {} {} {} {};", p.stages, counted_words(p.names), p.microbatches,
                      p.ahead, p.recompute);
  // Keeps the digests of files older than this key.
  if (p.schedule != ParallelSpec::Schedule::flush)
    text += fmt::format("{} {};", name_of(p.schedule), p.vertical_sync);
  if (p.tensor > 1) text += fmt::format("tensor {};", p.tensor);
  if (!p.copies.empty()) text += fmt::format("copies {};", fmt::join(p.copies, ","));
  return text;
}

/// Describes the training data.
std::string matter_of(const Fleet& f) {
  std::string text = digest_text(f.data) + samples_of(f);
  if (f.program) text += program_of(*f.program);
  if (f.agent) text += agent_of(*f.agent);
  return text;
}

/// Describes everything that determines the arithmetic, except the name.
std::string arithmetic_of(const Fleet& f) {
  const OptimizerSpec& o = f.optimizer;
  const LearningRate& s = o.schedule;
  const PartitionSpec& p = f.data.partition;
  std::string text = fmt::format("{};{};{};{};{};{};{};", f.seed, f.data.kind, f.data.train,
                                 f.data.test, f.data.features, f.data.classes, f.data.noise);
  text += fmt::format("{};{};{};{};{};{};", f.data.separation, p.kind, p.alpha, p.min_samples,
                      p.classes_per_peer, fmt::join(p.sizes, ","));
  const QuadraticSpec& q = f.data.quadratic;
  text += fmt::format("{};{};{};{};{};", q.dimension, fmt::join(q.hessian, ","), q.noise, q.spread,
                      q.start);
  text +=
      fmt::format("{};{};{};{};{};{};{};{};{};", f.program ? "program" : to_string(f.model), o.kind,
                  o.lr, o.momentum, o.nesterov, o.weight_decay, o.beta1, o.beta2, o.epsilon);
  text += fmt::format("{};{};{};{};{};{};{};{};", s.kind, s.every, s.factor, s.warmup, s.lipschitz,
                      s.sigma, f.local_steps, f.algorithm);
  text += fmt::format("{};{};{};{};{};{};", f.order, graph_of(f), weights_of(f), f.mixing_digest,
                      f.stop.rounds.value_or(0), f.stop.epochs.value_or(0));
  for (const PeerSpec& peer : f.peers) text += fmt::format("{},{};", peer.batch, peer.threads);
  text += work_of(f);
  for (const auto& [option, value] : f.settings) text += fmt::format("{} {};", option, value);
  if (f.attackers.count > 0)
    text += fmt::format("{} attackers {} {};", f.attackers.count, f.attackers.kind,
                        f.attackers.strength);
  if (f.clip) text += fmt::format("clip {};", *f.clip);
  if (f.codec) text += fmt::format("codec {} {};", to_string(*f.codec), f.codec->fraction);
  if (f.order == "hierarchical")
    for (const PeerSpec& peer : f.peers) text += fmt::format("on {};", peer.host);
  if (!f.plugin_content.empty()) text += fmt::format("plugin {};", f.plugin_content);
  if (!f.start_content.empty()) text += fmt::format("start {};", f.start_content);
  if (f.class_weights.any()) text += weights_of(f.class_weights);
  // Keeps its place before the newer data servers, so that digests do not change.
  if (form_of(f.data) == DataForm::text) text += fmt::format("context {};", f.data.context);
  if (f.data.servers > 0) text += fmt::format("data servers {};", f.data.servers);
  text += matter_of(f);
  if (f.data.augment.any())
    text += fmt::format("augment {} {};", f.data.augment.crop, f.data.augment.flip);
  return text;
}

/// Describes faults, evaluations and the end of the run.
std::string course_of(const Fleet& f) {
  const DataSpec& d = f.data;
  std::string text = fmt::format("{};{};{};{};", d.dir, d.file, d.test_file, d.fallback);
  text += d.test_dir + d.parts_content;
  text += fmt::format("{};{};", f.evaluate_every, f.evaluate_every_epochs.value_or(0));
  const std::optional<TargetSpec>& target = f.stop.target;
  // A plain target of accuracy, the only one in older versions, adds no text: the digests of old
  // runs stay valid.
  const bool plain = target && *target == TargetSpec{.figure = TargetSpec::Figure::accuracy,
                                                     .value = target->value};
  text += fmt::format("{};{};{};{};", f.stop.time.value_or(Time{0}).count(),
                      plain ? f.stop.target->value : 0, f.faults.deadline.count(), f.restart);
  if (target && !plain) text += fmt::format("target {};", to_string(*target));
  if (f.stop.patience > 0) text += fmt::format("patience {};", f.stop.patience);
  if (f.keep_best) text += "best;";
  if (f.evaluate_period > Time{0}) text += fmt::format("period {};", f.evaluate_period.count());
  // Each kind of GPU rounds differently; a fleet on CPUs adds nothing.
  for (const PeerSpec& peer : f.peers)
    if (peer.device != "cpu")
      text += fmt::format("{} {};", peer.device, static_cast<int>(peer.precision));
  for (const Injection& i : f.faults.inject)
    text += fmt::format("{} {} {} {} {};", i.at.count(), static_cast<int>(i.kind), i.peer, i.other,
                        i.length.count());
  return text;
}

std::string clock_text(const Fleet& f) {
  const NetworkSpec& n = f.network;
  std::string text = fmt::format("clock {} {} {} {} {};", n.latency.count(), n.jitter.count(),
                                 n.bandwidth, name_of(n.shape), f.flops);
  for (const auto& [ends, link] : n.links)
    text += fmt::format("{} {} {} {} {};", ends.first, ends.second, link.latency.count(),
                        link.jitter.count(), link.bandwidth);
  for (const auto& [peer, bandwidth] : n.cards) text += fmt::format("card {} {};", peer, bandwidth);
  for (const PeerSpec& peer : f.peers) text += fmt::format("{};", peer.speed);
  if (f.profile) text += fmt::format("profile {};", f.profile_content);
  if (f.agent) text += fmt::format("step {};", f.agent->step_seconds);
  return text;
}

}  // namespace

std::string digest_of_text(std::string_view text) {
  return hex_of(XXH3_128bits(text.data(), text.size()));
}

std::string digest_of(const Fleet& f, const std::string& name) {
  return digest_of_text(fmt::format("{};", name) + arithmetic_of(f));
}

std::string bits_of(const Fleet& f) {
  std::string text = arithmetic_of(f) + course_of(f);
  const AlgorithmRow* row = find_algorithm(f.algorithm, f.order);
  // With faults, evaluations or a stop at a given time, the models depend on the clock.
  const bool timed = f.stop.time || !f.faults.inject.empty() || f.evaluate_period > Time{0};
  if (timed || row == nullptr || !has_same_bits(*row, f.settings)) text += clock_text(f);
  return digest_of_text(text);
}

std::string clock_digest(const Fleet& fleet) {
  return digest_of_text(clock_text(fleet));
}

}  // namespace gv
