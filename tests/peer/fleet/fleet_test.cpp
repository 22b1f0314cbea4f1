#include "peer/fleet/fleet.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "peer/fleet/digest.h"
#include "tests/peer/fleet/fleet_file.h"
#include "tests/places.h"

namespace gv {
namespace {

TEST(Fleet, TheShippedFilesAreGood) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() + "/configs")) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path().string());
    EXPECT_NO_THROW(read_fleet(entry.path(), {}, nullptr));
    ++files;
  }
  EXPECT_GE(files, 5);
}

TEST(Fleet, ReadsUnitsAndShortForms) {
  const Fleet f =
      read(quadratic +
           "network: { latency: 5 ms, bandwidth: 100 Mbit/s }\ntopology: star\nevaluate: "
           "{ every: 20 rounds }\n");
  EXPECT_EQ(f.network.latency, std::chrono::milliseconds(5));
  EXPECT_EQ(f.network.bandwidth, 12.5e6);
  EXPECT_EQ(to_string(f.topology), "star");
  EXPECT_EQ(f.evaluate_every, 20U);
  EXPECT_EQ(f.size(), 4U);
}

TEST(Fleet, ReadsWhenToEvaluate) {
  const Fleet by_time = read(quadratic + "evaluate: { every: 1.5 s }\n");
  EXPECT_EQ(by_time.evaluate_period, std::chrono::milliseconds(1500));
  EXPECT_EQ(by_time.evaluate_every, 0U);
  EXPECT_EQ(read(quadratic + "evaluate: { every: 2 min }\n").evaluate_period,
            std::chrono::minutes(2));
  const Fleet by_rounds = read(quadratic + "evaluate: { every: 3 rounds }\n");
  EXPECT_EQ(by_rounds.evaluate_period, Time{0});
  EXPECT_EQ(by_time.digest, by_rounds.digest) << "what is computed stays the same";
}

TEST(Fleet, ReadsTargets) {
  const auto target = [](const std::string& text) {
    return read("version: 1\npeers: 4\ndata: quadratic\nstop: { target: { " + text + " } }\n")
        .stop.target.value();
  };
  using Figure = TargetSpec::Figure;
  using Whose = TargetSpec::Whose;
  EXPECT_EQ(target("accuracy: 90 %"), (TargetSpec{.figure = Figure::accuracy, .value = 0.9}));
  EXPECT_EQ(target("accuracy: 0.9, of: worst, for: 2"),
            (TargetSpec{.whose = Whose::worst, .value = 0.9, .in_a_row = 2}));
  EXPECT_EQ(target("loss: 0.4, of: local"),
            (TargetSpec{.figure = Figure::loss, .whose = Whose::local, .value = 0.4}));
  EXPECT_EQ(to_string(target("loss: 0.4, of: local, for: 2")),
            "mean loss of local models 0.4 twice in a row");
}

TEST(Fleet, ReadsWhatIsRecorded) {
  EXPECT_TRUE(read(quadratic).record.on);
  EXPECT_TRUE(read(quadratic + "record: true\n").record.on);
  EXPECT_FALSE(read(quadratic + "record: false\n").record.on);
  EXPECT_FALSE(read(quadratic + "record: off\n").record.on);
  const RecordSpec part = read(quadratic + "record: { rows: 64, moments: false }\n").record;
  EXPECT_TRUE(part.on);
  EXPECT_EQ(part.rows, 64U);
  EXPECT_FALSE(part.moments);
}

TEST(Fleet, ReadsModels) {
  const std::string head = "version: 1\npeers: 4\nstop: { rounds: 1 }\n";
  EXPECT_EQ(read(head).model.kind, "mlp");
  EXPECT_EQ(read(head + "model: lenet5\n").model.kind, "lenet5");
  const Fleet batch = read(head + "model: resnet20\n");
  const Fleet group = read(head + "model: { kind: resnet20, norm: group }\n");
  EXPECT_EQ(batch.model.word("norm"), "batch");
  EXPECT_EQ(group.model.word("norm"), "group");
  EXPECT_NE(batch.digest, group.digest);
  const std::string text = head + "data: { kind: text, file: " + source_folder() + "/LICENSE }\n";
  EXPECT_EQ(read(text).model.kind, "transformer");
  const Fleet wide = read(text + "model: { kind: transformer, width: 48, heads: 6, layers: 3 }\n");
  EXPECT_EQ(wide.model.number("width"), 48U);
  EXPECT_EQ(wide.model.number("heads"), 6U);
  EXPECT_EQ(wide.model.number("layers"), 3U);
  EXPECT_NE(wide.digest, read(text).digest);
}

TEST(Fleet, ReadsTheNetworkAndItsLinks) {
  const Fleet plain = read(quadratic);
  EXPECT_EQ(plain.network.shape, NetworkShape::per_nic);
  EXPECT_FALSE(plain.network.emulate);
  EXPECT_EQ(plain.network.local, LocalTransport::shared);
  EXPECT_EQ(read(quadratic + "network: { local: tcp }\n").network.local, LocalTransport::tcp);
  const std::string text =
      "network: { latency: 5 ms, jitter: 1 ms, bandwidth: 100 Mbit, shape: per-nic, emulate: true "
      "}\nlinks:\n  - { between: [3, 0], latency: 20 ms }\n"
      "  - { between: [1, 2], bandwidth: 1 MB/s, jitter: 0 ms }\n";
  const NetworkSpec network = read(quadratic + text).network;
  EXPECT_EQ(network.shape, NetworkShape::per_nic);
  EXPECT_TRUE(network.emulate);
  EXPECT_EQ(network.nic_bandwidth(0), 12.5e6);
  EXPECT_EQ(network.link(0, 1).latency, std::chrono::milliseconds(5));
  EXPECT_EQ(network.link(0, 1).bandwidth, 0) << "the card's alone";
  for (const auto& [a, b] : {std::pair{0U, 3U}, std::pair{3U, 0U}}) {
    EXPECT_EQ(network.link(a, b).latency, std::chrono::milliseconds(20));
    EXPECT_EQ(network.link(a, b).jitter, std::chrono::milliseconds(1)) << "the others', as it was";
  }
  EXPECT_EQ(network.link(2, 1).bandwidth, 1e6);
  EXPECT_EQ(network.link(2, 1).jitter, Time{0});
  const NetworkSpec own = read(quadratic + text, {"network.shape=per-link"}).network;
  EXPECT_EQ(own.link(0, 3).bandwidth, 12.5e6);
  EXPECT_EQ(own.link(1, 2).bandwidth, 1e6);
  EXPECT_EQ(own.nic_bandwidth(0), 0);
}

/// The keys of security change no computed value.
TEST(Fleet, ReadsWhoGetsIn) {
  const Fleet usual = read(quadratic);
  EXPECT_EQ(usual.security.mode, SecurityMode::automatic);
  EXPECT_TRUE(usual.security.keys.ends_with("keys")) << usual.security.keys;
  EXPECT_EQ(read(quadratic + "security: plaintext\n").security.mode, SecurityMode::plaintext);
  const Fleet own = read(quadratic + "security: { mode: tls, keys: /srv/keys }\n");
  EXPECT_EQ(own.security.mode, SecurityMode::tls);
  EXPECT_EQ(own.security.keys, "/srv/keys");
  EXPECT_EQ(own.digest, usual.digest);
  EXPECT_EQ(bits_of(own), bits_of(usual));
  for (const char* wrong : {"security: none\n", "security: { mode: off }\n",
                            "security: { key: keys }\n", "security: [tls]\n"})
    EXPECT_THROW(read(quadratic + wrong), FleetError) << wrong;
}

/// The default weight decay of AdamW is PyTorch's. Adam's is 0.
TEST(Fleet, OptimizersHaveTheirOwnRateAndDecay) {
  const auto optimizer = [](const char* words) {
    return read(quadratic + "train: { optimizer: " + words + " }\n").optimizer;
  };
  EXPECT_EQ(optimizer("adamw").kind, "adamw");
  EXPECT_EQ(optimizer("adamw").lr, 0.001);
  EXPECT_EQ(optimizer("adamw").weight_decay, 0.01);
  EXPECT_EQ(optimizer("adam").lr, 0.001);
  EXPECT_EQ(optimizer("adam").weight_decay, 0);
  EXPECT_EQ(optimizer("{ kind: adamw, weight_decay: 0.1, beta2: 0.95 }").weight_decay, 0.1);
  EXPECT_EQ(optimizer("{ kind: adamw, beta2: 0.95 }").beta2, 0.95);
  EXPECT_NE(read(quadratic + "train: { optimizer: { kind: adam, weight_decay: 0.01 } }\n").digest,
            read(quadratic + "train: { optimizer: adamw }\n").digest);
}

TEST(Fleet, SetOverrides) {
  const Fleet f = read(quadratic, {"peers=6", "train.optimizer.lr=0.25", "topology.kind=torus",
                                   "topology.shape=[2,3]"});
  EXPECT_EQ(f.size(), 6U);
  EXPECT_EQ(f.optimizer.lr, 0.25);
  EXPECT_EQ(to_string(f.topology), "torus:2x3");
  const auto wrong = problems(quadratic, {"train.optimzer.lr=1"});
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].where, "--set train.optimzer.lr=1");
  EXPECT_EQ(wrong[0].help, "did you mean `optimizer`?");
}

}  // namespace
}  // namespace gv
