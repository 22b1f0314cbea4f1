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
    set(map.take("lr"), o.lr, number(0, 1e6));
    set(map.take("weight_decay"), o.weight_decay, number(0, 1e6));
    set(map.take("clip_norm"), o.clip_norm, number(0, 1e6));
    if (o.kind == "sgd" || o.kind == "muon") {
      const Value* nesterov = map.take("nesterov");
      set(map.take("momentum"), o.momentum, number(0, 0.999999));
      set(nesterov, o.nesterov, flag());
      if (nesterov != nullptr && o.nesterov && o.momentum == 0)
        source_.error(*nesterov, "nesterov needs a momentum above 0");
    }
    if (o.kind != "sgd") {
      set(map.take("beta1"), o.beta1, number(0, 0.999999));
      set(map.take("beta2"), o.beta2, number(0, 0.999999999));
      set(map.take("epsilon"), o.epsilon, number(1e-30, 1));
    }
    if (o.kind == "adam" || o.kind == "adamw")
      set(map.take("accumulate"), o.accumulate, count(1, 1'000'000));
    o.schedule = read_schedule(map.take("schedule"));
    set(map.take("warmup"), o.schedule.warmup, count(0, 1'000'000'000));
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
      set(map.take("factor"), s.factor, number(0, 1));
    }
    if (s.kind == "lian") {
      set(map.take("lipschitz"), s.lipschitz, number(1e-12, 1e12));
      set(map.take("sigma"), s.sigma, number(0, 1e12));
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
