#include <algorithm>
#include <array>
#include <filesystem>

#include "gpu/cuda_replica.h"
#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// Fleets with data files in the same folder, run as a user would.
class DataCommand : public testing::Test {
 protected:
  DataCommand() {
    for (const auto& [name, rows] : {std::pair{"train.csv", 40}, std::pair{"test.csv", 10}}) {
      std::ofstream out(path(name));
      for (int r = 0; r < rows; ++r) {
        out << r % 10;
        for (int p = 0; p < 3072; ++p) out << ',' << (r % 10 * 25 + p * p % 7) % 256;
        out << '\n';
      }
    }
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string fleet(const std::string& more) const {
    const char* const rate = "train: { optimizer: { kind: sgd, lr: 0.001 } }\n";
    std::ofstream(path("fleet.yaml"))
        << "version: 1\nname: test\nseed: 3\nmodel: { kind: mlp, hidden: [8] }\n"
           "data: { kind: cifar10, dir: ., augment: crop+flip }\n"
           "stop: { rounds: 40 }\noutput: { dir: "
        << path("run") << " }\n"
        << (more.find("train:") == std::string::npos ? rate : "") << more;
    return path("fleet.yaml");
  }

  ScratchFolder folder_;
};

/// With augmented pictures and unequal batches, a run ends with the simulator's bits, resumed or
/// not.
TEST_F(DataCommand, RunSimulateAndResumeEndWithTheSameBits) {
  const std::string file =
      fleet("peers: [{ batch: 3 }, { batch: 5, speed: 2 }]\ncheckpoint: { every: 15 rounds }\n");
  const Ended real = run({"run", file, "--json"});
  ASSERT_EQ(real.code, 0) << real.err;
  const Ended simulated = run({"simulate", file, "--json"});
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  EXPECT_EQ(real.summary().at("params_hash"), simulated.summary().at("params_hash"));
  const Ended resumed = run({"simulate", "--resume", path("run"), "--json"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.summary().at("params_hash"), simulated.summary().at("params_hash"));
  const Ended plain = run({"simulate", file, "--set", "data.augment=none", "--json"});
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_NE(plain.summary().at("params_hash"), simulated.summary().at("params_hash"));
}

/// Twice the batch takes twice the time, unless the peer is twice as fast.
TEST_F(DataCommand, TheSimulatedClockIsThePeersOwn) {
  const auto seconds = [&](const std::string& peers) {
    const Ended ended =
        run({"simulate", fleet("algorithm: isolated\nsimulate: { flops: 1 MFLOP/s }\n" + peers),
             "--json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.summary().at("seconds").get<double>();
  };
  const double equal = seconds("peers: [{ batch: 8 }, { batch: 8 }]\n");
  EXPECT_NEAR(seconds("peers: [{ batch: 8 }, { batch: 16 }]\n"), 2 * equal, 0.05 * equal);
  EXPECT_NEAR(seconds("peers: [{ batch: 8 }, { batch: 16, speed: 2 }]\n"), equal, 0.05 * equal);
}

TEST_F(DataCommand, CudaThatIsNotHereEndsBeforeTheStart) {
  if (cuda_available()) GTEST_SKIP() << "a CUDA device is here";
  const std::string file = fleet("peers: [{}, { device: \"cuda:1\" }]\n");
  const Ended asked = run({"run", file});
  EXPECT_EQ(asked.code, 5) << asked.err;
  EXPECT_NE(asked.err.find("peer 1: device `cuda:1`"), std::string::npos) << asked.err;
  EXPECT_FALSE(std::filesystem::exists(path("run")));
  EXPECT_EQ(run({"peer", file, "--id", "1"}).code, 5);
  EXPECT_EQ(run({"plan", file}).code, 0) << "a plan may be made elsewhere";
  const Ended fallen = run({"run", file, "--set", "peers=2", "--set", "train.device=auto"});
  EXPECT_EQ(fallen.code, 0) << fallen.err;
  EXPECT_NE(fallen.err.find("notice: device auto: no CUDA here, 2 of 2 peers train on the CPU"),
            std::string::npos)
      << fallen.err;
}

TEST_F(DataCommand, ThePlanShowsTheBatches) {
  const std::string file = fleet("peers: [{}, { speed: 3 }]\ntrain: { batch: auto }\n");
  const Ended json = run({"plan", file, "--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(json.summary().at("batches"), nlohmann::json::parse("[16, 48]"));
  EXPECT_NEAR(json.summary().at("batch_noise").get<double>(), 4.0 / 3, 1e-12);
  const Ended text = run({"plan", file});
  EXPECT_NE(std::ranges::find(text.out,
                              "batch  16 .. 48, 32 on average (the fleet's gradient has 1.33 times "
                              "the variance of equal ones)"),
            text.out.end());
}

TEST_F(DataCommand, BenchDeviceMeasuresEachBatch) {
  const std::string file = fleet("peers: [{ batch: 4 }, { batch: 8, threads: 2 }]\n");
  const Ended ended =
      run({"bench", "device", file, "--batches", "2,5", "--seconds", "0.001", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto json = ended.summary();
  EXPECT_EQ(json.at("schema"), "grapevine.bench-device/1");
  EXPECT_EQ(json.at("batch"), 6) << "the peers' on average";
  ASSERT_GE(json.at("rows").size(), 6U) << "one thread and two, batches 2, 5 and 6";
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& row = json.at("rows")[i];
    EXPECT_EQ(row.at("device"), "cpu");
    EXPECT_EQ(row.at("threads"), 1 + i / 3);
    EXPECT_EQ(row.at("batch"), (std::array{2, 5, 6}.at(i % 3)));
    EXPECT_GT(row.at("samples_per_second").get<double>(), 0);
    const double first = json.at("rows")[i % 3].at("samples_per_second").get<double>();
    EXPECT_NEAR(row.at("speed").get<double>(), row.at("samples_per_second").get<double>() / first,
                1e-9);
  }
  const Ended text = run({"bench", "device", file, "--batches", "2", "--seconds", "0.001"});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.out.at(0), "mlp, 24674 parameters: gradient and step, 0.001 s each");
  EXPECT_NE(std::ranges::find(text.out, "for the fleet file, as measured at batch 6:"),
            text.out.end());
  const Ended none = run({"bench", "device", source_folder() + "/configs/quadratic-ring16.yaml"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("a quadratic has no samples"), std::string::npos) << none.err;
}

TEST_F(DataCommand, ADamagedFileEndsWithItsLine) {
  std::ofstream(path("test.csv"), std::ios::app) << "3,0\n";
  const Ended plan = run({"plan", fleet("peers: 2\n")});
  EXPECT_EQ(plan.code, 2);
  EXPECT_NE(plan.err.find("test.csv:11: 2 values instead of 3073"), std::string::npos) << plan.err;
}

/// Peers with different batches each measure their speed, and a fleet file can use the output.
TEST_F(DataCommand, BenchSpeedsMeasuresEveryPeerInOneUnit) {
  const std::string file = path("speeds.yaml");
  std::ofstream(file) << "version: 1\nname: speeds\nhosts: { localhost: {} }\n"
                      << "peers: [{ count: 2, batch: 4 }, { batch: 32, threads: 2 }]\n"
                      << "data: { kind: digits, train: 200, test: 20 }\nmodel: softmax\n"
                      << "train: { optimizer: { kind: sgd, lr: 0.1 } }\ntopology: ring\n"
                      << "stop: { rounds: 10 }\n";
  const Ended ended = run({"bench", "speeds", file, "--seconds", "0.05", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto json = ended.summary();
  EXPECT_EQ(json.at("schema"), "grapevine.bench-speeds/1");
  ASSERT_EQ(json.at("rows").size(), 3U);
  double least = std::numeric_limits<double>::max();
  for (const auto& row : json.at("rows")) {
    EXPECT_GT(row.at("samples_per_second"), 0);
    least = std::min(least, row.at("speed").get<double>());
  }
  EXPECT_EQ(least, 1);
  EXPECT_EQ(json.at("rows")[2].at("threads"), 2);
  const std::string text = run({"bench", "speeds", file, "--seconds", "0.05"}).output();
  for (const char* words :
       {"    - { host: localhost, count: 2, device: \"cpu\", threads: 1, ",
        "    - { host: localhost, count: 1, device: \"cpu\", threads: 2, ", "batch: auto"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

/// A peer that ends before it has measured is named with its last words.
TEST_F(DataCommand, BenchSpeedsSaysWhichPeerCouldNot) {
  const std::string file = path("speeds.yaml");
  std::ofstream(file) << "version: 1\nname: speeds\npeers: [{}, { device: \"cuda:99\" }]\n"
                      << "data: { kind: digits, train: 200, test: 20 }\nmodel: softmax\n"
                      << "train: { optimizer: { kind: sgd, lr: 0.1 } }\ntopology: ring\n"
                      << "stop: { rounds: 10 }\n";
  const Ended ended = run({"bench", "speeds", file, "--seconds", "0.05"});
  EXPECT_EQ(ended.code, 5) << ended.err;
  EXPECT_NE(ended.err.find("peer 1 did not measure"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace gv
