#include "peer/fleet/keys/key_ranges.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

// What readers ask for is alone here, as in word_keys.cpp. What else a reference says of these keys
// stands in their rows, which hold the place of the range as "{range}".

namespace gv {
namespace {

constexpr KeyRange rows[] = {
    {"peers", 1, most_peers},
    {"peers.per_host", 1, most_peers},
    {"peers.count", 1, most_peers},
    {"peers.threads", 1, 1024},
    {"peers.batch", 1, 1'000'000},
    {"peers.speed", 1e-6, 1e6},
    {"parallel.stages", 1, 10'000},
    {"parallel.microbatches", 1, 1'000'000},
    {"parallel.ahead", 1, 1'000'000},
    {"parallel.copies", 1, most_peers},
    {"parallel.tensor", 1, 10'000},
    {"hosts.NAME.port", 1, 65535},
    {"stop.rounds", 1, 1e12},
    {"stop.epochs", 1e-6, 1e9},
    {"stop.target.for", 1, 1000},
    {"stop.patience", 1, 1'000'000},
    {"checkpoint.keep", 1, 1000},
    {"record.rows", 2, 1'000'000},
    {"robust.clip", 1e-9, 1e9},
    {"attackers.count", 0, most_peers},
    {"attackers.strength", 0, 1e30},
    {"data.samples", 1, 4'000'000'000},
    {"data.servers", 1, 1000},
    {"data.partition.alpha", 1e-6, 1e9},
    {"data.partition.min_samples", 1, 1'000'000},
    {"data.partition.classes_per_peer", 1, 1000},
    {"data.partition.sizes", 1e-9, 1e12},
    {"agent.steps", 1, 100'000},
    {"agent.environments", 1, 10'000},
    {"agent.discount", 0, 1},
    {"agent.n_step", 1, 10'000},
    {"agent.memory", 1, 10'000'000},
    {"agent.warm_up", 1, 10'000'000},
    {"agent.refresh", 1, 1e9},
    {"agent.priority", 0, 10},
    {"agent.correction", 0, 10},
    {"agent.explore.from", 0, 1},
    {"agent.explore.to", 0, 1},
    {"agent.explore.over", 0, 1e12},
    {"agent.explore.base", 1e-9, 1},
    {"agent.explore.power", 0, 1000},
    {"agent.actors", 0, 1000},
    {"agent.memories", 1, 1000},
    {"agent.samples_per_insert", 0, 1e6},
    {"agent.model_every", 1, 1e9},
    {"train.optimizer.lr", 0, 1e6},
    {"train.optimizer.weight_decay", 0, 1e6},
    {"train.optimizer.clip_norm", 0, 1e6},
    {"train.optimizer.momentum", 0, 0.999999},
    {"train.optimizer.beta1", 0, 0.999999},
    {"train.optimizer.beta2", 0, 0.999999999},
    {"train.optimizer.epsilon", 1e-30, 1},
    {"train.optimizer.accumulate", 1, 1'000'000},
    {"train.optimizer.schedule.factor", 0, 1},
    {"train.optimizer.schedule.lipschitz", 1e-12, 1e12},
    {"train.optimizer.schedule.sigma", 0, 1e12},
    {"train.optimizer.warmup", 0, 1e9},
    {"train.batch", 1, 1'000'000},
    {"train.batch.mean", 1, 1'000'000},
    {"train.local_steps", 1, most_local_steps},
    {"train.local_steps.mean", 1, most_local_steps},
    {"algorithm.codec.fraction", 1e-6, 1},
};

}  // namespace

const KeyRange& key_range(std::string_view key) {
  const auto* const row = std::ranges::find(rows, key, &KeyRange::key);
  if (row != std::end(rows)) return *row;
  throw std::logic_error(fmt::format("{} has no row among those that have a range", key));
}

}  // namespace gv
