#include "peer/fleet/optimizer_reader.h"

#include <algorithm>

#include "peer/fleet/file/readers.h"

namespace gv {
namespace {

class OptimizerReader : Readers {
 public:
  explicit OptimizerReader(Source& source) : Readers(source) {}

  OptimizerSpec read(const Value* value) {
    MapReader map(source_, value, "train.optimizer", true);
    OptimizerSpec o;
    set(map.take("kind"), o.kind, choice_of("train.optimizer.kind"));
    if (o.kind != "sgd") o.lr = 1e-3;
    if (o.kind == "adamw") o.weight_decay = 0.01;
    if (o.kind == "muon") {
      o.weight_decay = 0.1;
      o.momentum = 0.95;
      o.nesterov = true;
    }
    set(map.take("lr"), o.lr, number("train.optimizer.lr"));
    set(map.take("weight_decay"), o.weight_decay, number("train.optimizer.weight_decay"));
    set(map.take("clip_norm"), o.clip_norm, number("train.optimizer.clip_norm"));
    if (o.kind == "sgd" || o.kind == "muon") {
      const Value* nesterov = map.take("nesterov");
      set(map.take("momentum"), o.momentum, number("train.optimizer.momentum"));
      set(nesterov, o.nesterov, flag());
      if (nesterov != nullptr && o.nesterov && o.momentum == 0)
        source_.error(*nesterov, "nesterov needs a momentum above 0");
    }
    if (o.kind != "sgd") {
      set(map.take("beta1"), o.beta1, number("train.optimizer.beta1"));
      set(map.take("beta2"), o.beta2, number("train.optimizer.beta2"));
      set(map.take("epsilon"), o.epsilon, number("train.optimizer.epsilon"));
    }
    if (o.kind == "adam" || o.kind == "adamw")
      set(map.take("accumulate"), o.accumulate, count("train.optimizer.accumulate"));
    o.schedule = read_schedule(map.take("schedule"));
    set(map.take("warmup"), o.schedule.warmup, count("train.optimizer.warmup"));
    map.finish();
    return o;
  }

 private:
  LearningRate read_schedule(const Value* value) {
    MapReader map(source_, value, "train.optimizer.schedule", true);
    LearningRate s;
    set(map.take("kind"), s.kind, choice_of("train.optimizer.schedule.kind"));
    if (s.kind == "step") {
      if (const Value* every = map.take("every")) {
        if (const auto e = read_every(source_, *every, {"step"}))
          s.every = static_cast<std::uint64_t>(std::max(1.0, e->count));
      }
      set(map.take("factor"), s.factor, number("train.optimizer.schedule.factor"));
    }
    if (s.kind == "lian") {
      set(map.take("lipschitz"), s.lipschitz, number("train.optimizer.schedule.lipschitz"));
      set(map.take("sigma"), s.sigma, number("train.optimizer.schedule.sigma"));
    }
    map.finish();
    return s;
  }
};

}  // namespace

OptimizerSpec read_optimizer(Source& source, const Value* value) {
  return OptimizerReader(source).read(value);
}

}  // namespace gv
