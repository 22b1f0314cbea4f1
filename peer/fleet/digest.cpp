#include "peer/fleet/digest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

namespace gv {

std::string digest_of(const Fleet& f) {
  const OptimizerSpec& o = f.optimizer;
  const Schedule& s = o.schedule;
  const PartitionSpec& p = f.data.partition;
  std::string text = fmt::format("{};{};{};{};{};{};{};{};",
                                 f.name,
                                 f.seed,
                                 f.data.kind,
                                 f.data.train,
                                 f.data.test,
                                 f.data.features,
                                 f.data.classes,
                                 f.data.noise);
  text += fmt::format("{};{};{};{};{};{};",
                      f.data.separation,
                      p.kind,
                      p.alpha,
                      p.min_samples,
                      p.classes_per_peer,
                      fmt::join(p.sizes, ","));
  const QuadraticSpec& q = f.data.quadratic;
  text += fmt::format(
      "{};{};{};{};{};", q.dimension, fmt::join(q.hessian, ","), q.noise, q.spread, q.start);
  text += fmt::format("{};{};{};{};{};{};{};{};{};{};",
                      f.model.kind,
                      fmt::join(f.model.hidden, ","),
                      o.kind,
                      o.lr,
                      o.momentum,
                      o.nesterov,
                      o.weight_decay,
                      o.beta1,
                      o.beta2,
                      o.epsilon);
  text += fmt::format("{};{};{};{};{};{};{};{};",
                      s.kind,
                      s.every,
                      s.factor,
                      s.warmup,
                      s.lipschitz,
                      s.sigma,
                      f.local_steps,
                      f.algorithm);
  text += fmt::format("{};{};{};{};{};",
                      f.order,
                      f.schedule ? to_string(*f.schedule) : to_string(f.topology),
                      f.schedule ? "its own" : f.weights,
                      f.stop.rounds.value_or(0),
                      f.stop.epochs.value_or(0));
  for (const PeerSpec& peer : f.peers) text += fmt::format("{},{};", peer.batch, peer.threads);
  if (f.model.kind == "resnet20") text += fmt::format("norm {};", f.model.norm);
  if (f.model.kind == "transformer")
    text += fmt::format("width {} {} {};", f.model.width, f.model.heads, f.model.layers);
  if (f.data.kind == "text") text += fmt::format("context {};", f.data.context);
  if (f.data.augment.any())
    text += fmt::format("augment {} {};", f.data.augment.crop, f.data.augment.flip);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace gv
