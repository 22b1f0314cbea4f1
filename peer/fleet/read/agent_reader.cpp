#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gossip/algorithm.h"
#include "optim/rl/environments.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/read/algorithm_reader.h"
#include "peer/fleet/read/sections.h"

namespace gv {
namespace {

class AgentReader : Readers {
 public:
  explicit AgentReader(Source& source) : Readers(source) {}

  AgentSpec read(const Value& value, const Fleet& fleet) {
    AgentSpec a;
    a.environment = fleet.data.environment;
    MapReader map(source_, &value, "agent");
    map.read("steps", a.steps);
    map.read("environments", a.environments);
    map.read("discount", a.discount);
    map.read("n_step", a.n_step);
    const Value* const memory = map.read("memory", a.memory);
    const Value* const warm_up = map.read("warm_up", a.warm_up);
    map.read("refresh", a.refresh);
    map.read("priority", a.priority);
    map.read("correction", a.correction);
    read_explore(map.take("explore"), a.explore);
    read_actors(map, fleet, a);
    if (const Value* const time = map.take("step_time"))
      if (const auto took = read_duration(source_, *time))
        a.step_seconds = std::chrono::duration<double>(*took).count();
    map.finish();
    check_sizes(a, fleet, memory != nullptr ? *memory : value,
                warm_up != nullptr ? *warm_up : value);
    return a;
  }

 private:
  /// Reads actors and the memories, with their limit, between actors and learners.
  void read_actors(MapReader& map, const Fleet& fleet, AgentSpec& a) {
    map.read("actors", a.actors);
    const Value* const memories = map.read("memories", a.memories);
    const Value* const limit = map.read("samples_per_insert", a.samples_per_insert);
    const Value* const every = map.read("model_every", a.model_every);
    if (a.actors > 0) {
      if (memories != nullptr) check_memories(*memories, fleet, a);
      return;
    }
    for (const auto& [value, key] :
         {std::pair(memories, "memories"), std::pair(limit, "samples_per_insert"),
          std::pair(every, "model_every")})
      if (value != nullptr)
        source_.error(*value, fmt::format("`{}` needs actors, and the agent has none", key),
                      "add such as `actors: 8` to `agent`, or leave it out");
  }

  void check_memories(const Value& at, const Fleet& fleet, const AgentSpec& a) {
    if (a.memories > fleet.trainers())
      source_.error(at,
                    fmt::format("{} memories are more than the {} peers that learn", a.memories,
                                fleet.trainers()),
                    fmt::format("take `memories: {}` at most", fleet.trainers()));
    else if (a.memories > a.actors)
      source_.error(
          at, fmt::format("{} memories are more than the {} peers that act", a.memories, a.actors),
          fmt::format("take `memories: {}` at most, or more `actors`", a.actors));
  }

  void read_explore(const Value* value, ExploreSpec& explore) {
    if (value == nullptr) return;
    MapReader map(source_, value, "agent.explore");
    const Value* const from = map.read("from", explore.from);
    const Value* const to = map.read("to", explore.to);
    const Value* const over = map.read("over", explore.over);
    const Value* const base = map.read("base", explore.base);
    const Value* const power = map.read("power", explore.power);
    map.finish();
    const bool falls = from != nullptr || to != nullptr || over != nullptr;
    if (falls && (base != nullptr || power != nullptr))
      source_.error(*value, "`explore` has either `from`, `to` and `over`, or `base` and `power`",
                    "write `{ from: 1, to: 0.05, over: 5000 }` or `{ base: 0.4, power: 7 }`");
    else if (power != nullptr && base == nullptr)
      source_.error(*power, "`power` needs `base`", "write `{ base: 0.4, power: 7 }`");
  }

  void check_sizes(const AgentSpec& a,
                   const Fleet& fleet,
                   const Value& memory,
                   const Value& warm_up) {
    std::uint32_t batch = 0;
    for (PeerId i = 0; i < fleet.trainers(); ++i) batch = std::max(batch, fleet.peers[i].batch);
    if (batch > a.memory)
      return source_.error(
          memory,
          fmt::format("a batch of {} is larger than the memory of {} transitions", batch, a.memory),
          "take a larger `memory`, or a smaller `train.batch`");
    if (a.warm_up > a.memory)
      return source_.error(
          warm_up, fmt::format("a memory of {} never holds {} transitions", a.memory, a.warm_up),
          fmt::format("take `warm_up: {}` at most, or a larger `memory`", a.memory));
    if (a.actors > 0 && a.most_transitions() > a.memory)
      return source_.error(memory,
                           fmt::format("an actor sends up to {} transitions at once, and a memory "
                                       "keeps {}",
                                       a.most_transitions(), a.memory),
                           "take a larger `memory`, or fewer `environments`, `steps` or `n_step`");
    if (a.warm_up < batch)
      source_.error(warm_up,
                    fmt::format("a batch of {} is larger than the {} transitions of `warm_up`",
                                batch, a.warm_up),
                    fmt::format("take `warm_up: {}` at least, or a smaller `train.batch`", batch));
  }
};

/// Reports other keys of the file that have no meaning with `agent`.
class AgentChecks {
 public:
  AgentChecks(Source& source, const Value& root, const Fleet& fleet)
      : source_(source), root_(root), fleet_(fleet) {}

  void check() {
    const std::optional<TargetSpec>& target = fleet_.stop.target;
    if (target && target->figure == TargetSpec::Figure::accuracy)
      refuse(root_.find("stop", "target"), "an agent has no accuracy, but a return",
             "write such as `target: { return: 475 }`");
    constexpr const char* no_samples = "an agent has no samples, and so no epochs";
    if (fleet_.stop.epochs)
      refuse(root_.find("stop", "epochs"), no_samples, "write `stop: { rounds: N }`");
    if (fleet_.evaluate_every_epochs)
      refuse(root_.find("evaluate", "every"), no_samples, "write it in rounds, or as a time");
    if (fleet_.class_weights.any())
      refuse(root_.find("train", "class_weights"),
             "the classes of an agent are its actions, which have no labels", "leave it out");
    if (fleet_.by_samples)
      refuse(root_.find("train", "peer_weights"), "an agent has no samples to be weighed by",
             "leave it out");
    if (fleet_.parallel)
      refuse(root_.find("parallel"), "an agent acts with a whole model, and chains divide it",
             "leave out `parallel`");
    check_method();
    check_devices();
  }

 private:
  void refuse(const Value::Entry* at, const std::string& why, const std::string& help) {
    source_.error(at == nullptr ? root_ : at->value, why, help);
  }

  void check_method() {
    const AlgorithmRow* const row = find_algorithm(fleet_.algorithm, fleet_.order);
    if (row == nullptr) return;
    const std::string_view why = agent_use(*row).objection;
    if (!why.empty())
      refuse(
          root_.find("algorithm"),
          fmt::format("{} trains no agents, which fill a memory of their own: {}", row->kind, why),
          "take any other method, such as `d-psgd`, `all-reduce` or `parameter-server`");
  }

  void check_devices() {
    for (const PeerSpec& peer : fleet_.peers)
      if (peer.device.starts_with("cuda"))
        return refuse(root_.find("agent"), "an agent acts and learns only on the CPU",
                      "write `device: cpu`");
  }

  Source& source_;
  const Value& root_;
  const Fleet& fleet_;
};

constexpr AgentUse gorila{.name = "Gorila", .source = "arXiv:1507.04296"};
constexpr AgentUse gala{.name = "GALA", .source = "arXiv:1906.04585"};

struct NamedUse {
  std::string_view kind, order;
  AgentUse use;
};

constexpr NamedUse named_uses[] = {
    {"parameter-server", "async", gorila},
    {"downpour", "", gorila},
    {"fedavg", "", {.objection = "it counts passes over samples"}},
    {"hogwild", "", {.objection = "its threads draw the samples themselves"}},
};

}  // namespace

/// Reads the environment of agents, whose experience stays with each agent.
void read_agent(Source& source, const Value& root, const Value* value, Fleet& fleet) {
  const bool acts = fleet.data.kind == "environment";
  if (acts && value == nullptr)
    return source.error(root, "data of kind `environment` needs `agent`",
                        "add such as `agent: { steps: 4 }`, or `agent: {}` for the defaults");
  if (!acts && value != nullptr)
    return source.error(
        *value,
        fmt::format("an agent acts in an environment, and `data` is of kind `{}`", fleet.data.kind),
        "write `data: { kind: environment, name: cartpole }`, or remove `agent`");
  if (acts) fleet.agent = AgentReader(source).read(*value, fleet);
}

void check_agent(Source& source, const Value& root, const Fleet& fleet) {
  if (fleet.agent) return AgentChecks(source, root, fleet).check();
  if (fleet.stop.target && fleet.stop.target->as_return)
    source.error(root.find("stop")->value,
                 "only an agent has a return, and the file has no `agent`",
                 "write such as `target: { accuracy: 0.9 }` or `{ loss: 0.4 }`");
}

// Gorila: Nair et al., "Massively parallel methods for deep reinforcement learning", 2015,
// arXiv:1507.04296: a parameter server that steps on gradients as they arrive, or Downpour's. In
// its bundled form each peer acts, learns and remembers.
// GALA: Assran, Romoff, Ballas, Pineau & Rabbat, "Gossip-based actor-learner architectures for deep
// reinforcement learning", NeurIPS 2019, arXiv:1906.04585: agents that average with neighbours.

AgentUse agent_use(const AlgorithmRow& row) {
  for (const NamedUse& named : named_uses)
    if (named.kind == row.kind && named.order == row.order) return named.use;
  if (row.hands_samples) return {.objection = "it hands samples from peer to peer"};
  return row.mixes ? gala : AgentUse{};
}

}  // namespace gv
