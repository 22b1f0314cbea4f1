#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "gossip/experience.h"
#include "gossip/supply.h"
#include "optim/rl/served_memory.h"
#include "tests/gossip/one_peer.h"

namespace gv {

inline constexpr PeerId memory_id = 2;
inline constexpr TransitionForm form{.numbers = 1, .actions = 2, .binary = false};

/// One peer alone in a still world: learner 0 or 1, memory 2, or actor 3 or 4.
class Experience : public OnePeer {
 protected:
  static std::shared_ptr<gv::Setup> fleet_setup() {
    return std::make_shared<gv::Setup>(gv::Setup{.peers = 2,
                                                 .data_servers = 1,
                                                 .actors = 2,
                                                 .most_samples_bytes = 4 * form.bytes(),
                                                 .most_chunk_bytes = 8 * form.bytes(),
                                                 .most_judged_bytes = 4 * sizeof(float)});
  }
  void make_part(PeerId id, std::shared_ptr<ExperiencePart> own, std::size_t d = 3) {
    part = std::move(own);
    Plan plan;
    plan.id = id;
    plan.peers = 5;
    plan.setup = fleet_setup();
    plan.links = experience_links(*plan.setup, id);
    plan.experience = part;
    plan.channels = experience_channels(*plan.setup, d, part);
    plan.rounds = 100;
    plan.is_supplied = id < 2;
    plan.succession = succession;
    make(static_cast<std::uint32_t>(d), plan);
  }
  /// Makes a memory, warm after a chunk of four; then two samples per transition, and eight to
  /// spare.
  void make_memory(double priority = 0) {
    const auto own = std::make_shared<ExperiencePart>();
    own->memory = std::make_shared<ServedMemory>(
        ServedMemorySpec{.memory = {.places = 40, .numbers = 1, .actions = 2, .priority = priority},
                         .form = form,
                         .most_rows = 8,
                         .warm_up = 4,
                         .samples_per_insert = 2,
                         .batches = {{0, 4}, {1, 4}}},
        Rng(1));
    make_part(memory_id, own);
    life = remember(*peer);
    life.start();
    world.work();
  }
  static std::shared_ptr<Buffer> chunk(float reward = 1) {
    Drawn drawn{.places = {},
                .seen = {1, 2, 3, 4},
                .next = {2, 3, 4, 5},
                .actions = {0, 1, 0, 1},
                .rewards = {reward, 1, 1, 1},
                .futures = {1, 1, 1, 0},
                .weights = {1, 1, 1, 1}};
    return pack_transitions(drawn, form);
  }
  bool send_chunk(PeerId from, Payload transitions = chunk()) {
    const bool fits =
        peer->deliver({from, experience_kind, sent_chunks++, 0, std::move(transitions)});
    world.work();
    return fits;
  }
  bool ask(PeerId from, std::uint64_t number, Payload errors = nullptr) {
    const bool fits = peer->deliver({from, Kind::ready, number, 0, std::move(errors)});
    world.work();
    return fits;
  }
  std::ptrdiff_t count(PeerId to, Kind kind) const {
    return std::ranges::count_if(
        world.sent, [&](const auto& sent) { return sent.first == to && sent.second.kind == kind; });
  }
  MemoryFigures figures() const { return part->memory->figures(); }

  void pass(Time length) {
    world.clock += length;
    for (auto timers = std::exchange(world.timers, {}); const auto& [delay, f] : timers) f();
    world.work();
  }

  Time succession{0};
  std::shared_ptr<ExperiencePart> part;
  std::uint64_t sent_chunks = 0;
  Task<> life;
};

}  // namespace gv
