#include <gtest/gtest.h>

#include "tests/peer/sim/chains/chain_fleets.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"

namespace gv {
namespace {

TEST(ChainTcp, TheSameBitsOverTcpAndInVirtualTime) {
  for (std::uint64_t k = 0; k < 16; ++k) {
    Rng rng = Rng(13).derive("tcp").derive(k);
    ChainFleet drawn = draw_chains(rng);
    drawn.chains = 1 + static_cast<PeerId>(rng.below(3));
    drawn.method = one_of<std::string>(
        rng,
        {"{ kind: d-psgd, order: lian }", "{ kind: d-psgd, order: atc }", "{ kind: all-reduce }"});
    if (drawn.method == "{ kind: all-reduce }") drawn.local_steps = 1;
    if (k >= 8) drawn = drawn.streamed(k % 4 < 2);
    if (k % 2 == 1) drawn.more = "network: { local: tcp }\n";
    const Assembly fleet = drawn.assembly();
    LoopbackFleet real(fleet);
    real.run();
    const Outcome virtually = in_virtual_time(fleet);
    EXPECT_EQ(real.observer.params_hash(), virtually.hash) << drawn.text() << real.log;
  }
}

}  // namespace
}  // namespace gv
