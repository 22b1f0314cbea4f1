#pragma once

#include "peer/show/live/observed_run.h"

namespace gv {

/// Returns an evaluation at that round.
inline FleetRecord a_record(Round round, double loss) {
  FleetRecord record;
  record.round = round;
  record.peers = 1;
  record.mean.loss = loss;
  return record;
}

/// Returns a run of `peers` peers in the middle of training: round 120 of 300 after 10 s.
inline RunView a_view(PeerId peers, bool activities = false) {
  RunView view{.title = {.name = "fashion-ring8",
                         .folder = "runs/fashion-ring8",
                         .method = "d-psgd lian",
                         .graph = "ring"},
               .phase = FleetState::Phase::training,
               .seconds = 10,
               .round = 120,
               .rounds = 300,
               .rate = 12};
  for (PeerId i = 0; i < peers; ++i) {
    PeerView peer{.state = {.id = i,
                            .pid = static_cast<pid_t>(1000 + i),
                            .stage = PeerState::Stage::training,
                            .round = 120 + i % 3,
                            .sent_bytes = 1'000'000 * (i + 1),
                            .reported = 100},
                  .cpu_seconds = 4.5,
                  .cpu_share = 0.42,
                  .memory_bytes = 120'000'000,
                  .out_rate = 39e6};
    if (activities) {
      peer.state.activities = ActivitySeconds{4, 1, 0.5, 2, 1.5, 0.5, 0, 0.5};
      peer.state.waits = {{.peer = (i + 1) % peers, .late = 0.5, .wire = 1},
                          {.peer = (i + peers - 1) % peers, .late = 1.5, .wire = 0.5}};
    }
    view.peers.push_back(peer);
  }
  view.latest = MetricsRow{.round = 100,
                           .seconds = 8,
                           .peers = peers,
                           .train_loss = 0.5,
                           .loss = 0.331,
                           .loss_local = 0.35,
                           .accuracy = 0.884,
                           .accuracy_min = 0.871,
                           .accuracy_max = 0.889,
                           .consensus = 0.058,
                           .sent_bytes = 123456789};
  view.losses = {2.3, 1, 0.6, 0.4, 0.331};
  return view;
}

}  // namespace gv
