#include "gossip/registry.h"
#include "gossip/supply.h"

// Hogwild!. Niu, Recht, Re & Wright, "Hogwild!: a lock-free approach to parallelizing stochastic
// gradient descent", NIPS 2011, arXiv:1106.5730, Algorithm 1: the threads of one process take their
// steps on one x, without checking whether another one writes. The method pays off for sparse
// gradients, because then two threads seldom meet at a coordinate. Here the processes of several
// machines are averaged too, by W, after every train.local_steps steps of all their threads
// together; one process alone is the paper's. In virtual time the order of the threads' reads and
// writes of x is drawn; n threads are n times as fast. Per round and neighbour: 4 d bytes each way.

namespace gv {
namespace {

constexpr Option hogwild_options[] = {{.name = "threads",
                                       .usual = 2,
                                       .least = 1,
                                       .most = 256,
                                       .whole = true,
                                       .help = "number of threads per process that share one x"}};

Task<> hogwild(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    co_await me.descend_lock_free(static_cast<std::uint32_t>(me.number("threads")));
    co_await me.average();
  }
}

std::string hogwild_objection(const Setup& setup, const MixingMatrix*) {
  if (!setup.shares_descent)
    return "the threads of hogwild share x where few features of a sample are not zero: take "
           "data of kind `libsvm` or `sparse`, or `d-psgd` with `threads` of each peer";
  if (setup.optimizer.kind != "sgd" || setup.optimizer.momentum != 0 ||
      setup.optimizer.weight_decay != 0 || setup.optimizer.clip_norm != 0)
    return "hogwild takes plain steps, since anything else would touch all of x: take "
           "`train.optimizer: { kind: sgd }` without momentum, weight_decay and clip_norm";
  return own_samples_objection(setup);
}

}  // namespace

extern const AlgorithmRow hogwild_row{
    .kind = "hogwild",
    .run = hogwild,
    .mixes = true,
    .traffic = encoded,
    .codecs = Codecs::dense,
    .options = hogwild_options,
    .objection = hogwild_objection,
    .program = {.objection = "its threads step on one x in our own arithmetic: take `d-psgd`"},
    .promise = Promise::mean,
    .synchronous = false,
    .summary = "threads of a process step on one x without a lock; arXiv:1106.5730"};

}  // namespace gv
