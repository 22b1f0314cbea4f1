#include <fstream>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gpu/cuda_replica.h"
#include "peer/fleet/read/sections.h"
#include "peer/fleet/read/work_shares.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/study/bench/bench.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

class Devices : public testing::Test {
 protected:
  Fleet read(const std::string& text) {
    return read_text("version: 1\ndata: quadratic\nstop: { rounds: 5 }\n" + text);
  }
  Fleet read_text(const std::string& text) {
    notices_.clear();
    const std::string path = folder_.path() + "/fleet.yaml";
    std::ofstream(path) << text;
    return read_fleet(path, {}, &notices_);
  }
  std::string problem(const std::string& text) {
    try {
      read(text);
    } catch (const FleetError& e) {
      const Diagnostic& first = e.diagnostics().at(0);
      return first.where + " " + first.message + " " + first.help;
    }
    return "";
  }

  ScratchFolder folder_;
  std::vector<std::string> notices_;
};

std::vector<std::uint32_t> batches_of(const Fleet& fleet) {
  std::vector<std::uint32_t> batches;
  for (const PeerSpec& peer : fleet.peers) batches.push_back(peer.batch);
  return batches;
}

TEST_F(Devices, AreGivenToAllOrToEach) {
  EXPECT_EQ(read("").peers[0].device, "cpu");
  EXPECT_EQ(read("peers: 3\ntrain: { device: auto }\n").peers[2].device, "auto");
  const Fleet fleet = read(
      "train: { device: cuda }\npeers: [{ count: 2 }, { device: cpu, threads: 3 }, { device: "
      "\"cuda:1\", batch: 128 }]\n");
  ASSERT_EQ(fleet.size(), 4U);
  EXPECT_EQ(fleet.peers[1].device, "cuda");
  EXPECT_EQ(fleet.peers[2].device, "cpu");
  EXPECT_EQ(fleet.peers[2].threads, 3);
  EXPECT_EQ(fleet.peers[3].device, "cuda:1");
  EXPECT_EQ(batches_of(fleet), (std::vector<std::uint32_t>{32, 32, 32, 128}));
}

TEST_F(Devices, ThePrecisionIsRead) {
  const auto of = [&](const std::string& text) { return read(text).peers[0].precision; };
  EXPECT_EQ(of(""), Precision::fp32);
  EXPECT_EQ(of("train: { precision: fp32 }\n"), Precision::fp32);
  EXPECT_EQ(of("train: { precision: tf32 }\n"), Precision::tf32);
  EXPECT_EQ(of("train: { precision: bf16 }\n"), Precision::bf16);
  const Fleet mixed = read(
      "train: { precision: tf32 }\npeers: [{ count: 2 }, { device: cuda, precision: fp32 }]\n");
  EXPECT_EQ(mixed.peers[1].precision, Precision::tf32);
  EXPECT_EQ(mixed.peers[2].precision, Precision::fp32);
  EXPECT_NE(problem("peers: [{ precision: fp8 }]\n").find(":4:22 `fp8` is not a precision"),
            std::string::npos)
      << problem("peers: [{ precision: fp8 }]\n");
  EXPECT_NE(problem("train: { precision: fp16 }\n").find(":4:21"), std::string::npos)
      << problem("train: { precision: fp16 }\n");
}

TEST_F(Devices, NamesThatAreNoneAreRefused) {
  for (const char* word : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:1024", "CUDA"}) {
    const std::string what = problem(fmt::format("train: {{ device: \"{}\" }}\n", word));
    EXPECT_NE(what.find(fmt::format(":4:18 `{}` is not a device", word)), std::string::npos)
        << what;
    EXPECT_NE(what.find("`cuda:1` for the second one"), std::string::npos) << what;
  }
  EXPECT_NE(problem("peers: [{ device: tpu }]\n").find(":4:19 `tpu` is not a device"),
            std::string::npos);
}

/// The digest covers the amount of arithmetic, not the device that does it.
TEST_F(Devices, TheDigestHoldsTheBatchesAndNotTheDevices) {
  const std::string plain = read("peers: [{ count: 2 }]\n").digest;
  EXPECT_EQ(read("peers: 2\ntrain: { device: cuda }\n").digest, plain);
  EXPECT_EQ(read("peers: [{ device: auto }, { device: cpu, speed: 3 }]\n").digest, plain);
  EXPECT_EQ(read("peers: [{ precision: bf16 }, {}]\ntrain: { precision: tf32 }\n").digest, plain);
  EXPECT_NE(read("peers: [{ batch: 16 }, { batch: 48 }]\n").digest, plain);
  EXPECT_NE(read("peers: [{ batch: 16 }, { batch: 48 }]\n").digest,
            read("peers: [{ batch: 48 }, { batch: 16 }]\n").digest);
}

TEST_F(Devices, MeanWhatIsHere) {
  const AmongPeers alone;
  const MachineParts gpu{.devices = 1, .cores = 8};
  EXPECT_EQ(choose_device("cpu", alone, gpu), Device{});
  EXPECT_EQ(choose_device("auto", alone, {}), Device{});
  EXPECT_EQ(choose_device("auto", alone, gpu), (Device{true, 0}));
  EXPECT_EQ(choose_device("cuda", alone, gpu), (Device{true, 0}));
  EXPECT_EQ(choose_device("cuda:3", alone, gpu), (Device{true, 3}));
  for (const char* word : {"cuda", "cuda:1"}) {
    try {
      choose_device(word, alone, {});
      ADD_FAILURE() << word;
    } catch (const std::runtime_error& e) {
      EXPECT_NE(std::string(e.what()).find(std::string("device `") + word + "`"),
                std::string::npos);
      EXPECT_NE(std::string(e.what()).find("write `device: cpu`"), std::string::npos);
    }
  }
}

/// A peer that names a device number gets that device, and does not change the turn of the others.
TEST_F(Devices, AreSpreadOverThePeersOfAHost) {
  const Fleet fleet = read(
      "hosts: { a: {}, b: {} }\n"
      "peers: [{ host: a, device: cuda }, { host: b, device: auto }, { host: a, device: cpu }, "
      "{ host: a, device: \"cuda:0\" }, { host: a, device: auto }, { host: b, device: cuda }, "
      "{ host: a, device: cuda }]\n");
  const MachineParts two{.devices = 2, .cores = 64};
  std::vector<std::string> chosen;
  for (PeerId i = 0; i < fleet.size(); ++i)
    chosen.push_back(to_string(choose_device(fleet.peers[i].device, among_peers(fleet, i), two)));
  EXPECT_EQ(chosen, (std::vector<std::string>{"cuda:0", "cuda:0", "cpu", "cuda:0", "cuda:1",
                                              "cuda:1", "cuda:0"}));
}

/// A peer that spins while it waits for its device takes a core from the others.
TEST_F(Devices, AreWaitedForAsleepWhereCoresAreFew) {
  const auto sleeps = [](std::size_t peers, unsigned cores) {
    return choose_device("cuda", {.place = 0, .peers = peers}, {.devices = 1, .cores = cores})
        .sleeps;
  };
  EXPECT_FALSE(sleeps(1, 8));
  EXPECT_FALSE(sleeps(4, 8));
  EXPECT_TRUE(sleeps(5, 8));
  EXPECT_TRUE(sleeps(8, 8));
  EXPECT_TRUE(sleeps(1, 1));
}

TEST_F(Devices, AreCheckedBeforeTheStart) {
  if (cuda_available()) GTEST_SKIP() << "a CUDA device is here: there is nothing to refuse";
  const Fleet mixed = read("peers: [{}, { device: auto }, { device: auto }, { device: cuda }]\n");
  EXPECT_EQ(check_devices(mixed, {0}), std::vector<std::string>{});
  const std::vector<std::string> told = check_devices(mixed, {0, 1, 2});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0], "device auto: no CUDA here, 2 of 4 peers train on the CPU");
  try {
    check_devices(mixed, {3});
    ADD_FAILURE() << "CUDA without CUDA";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("fleet.yaml: peer 3: device `cuda`"), std::string::npos)
        << e.what();
  }
}

/// A fleet that no device can train is refused before the start. `auto` trains it on the CPU.
TEST_F(Devices, AreRefusedWhereSomethingStaysOnTheCpu) {
  struct Row {
    std::string train, more, why;
  };
  const std::string plain =
      "data: { kind: blobs, train: 64, test: 8 }\nmodel: { kind: mlp, hidden: [8, 7] }\n";
  const std::vector<Row> rows{
      {"optimizer: { clip_norm: 1 }", plain, "gradients are shortened on the CPU only"},
      {"optimizer: { kind: adamw, accumulate: 2 }", plain, "several gradients at once"},
      {"optimizer: muon", plain, "muon steps on the CPU only"},
      {"class_weights: balanced", plain, "classes are weighted on the CPU only"},
      {"peer_weights: samples", plain, "gradients are weighted on the CPU only"},
      {"", plain + "attackers: { count: 1, kind: gradient-scale }\n", "false gradients"},
      {"", plain + "algorithm: flexrr\n", "samples that come from other peers"},
      {"", "data: { kind: blobs, train: 64, test: 8, servers: 1 }\n",
       "samples that come from other"},
      {"", "data: quadratic\n", "model `quadratic` is trained on the CPU only"},
      {"", "data: linear\n", "model `linear` is trained on the CPU only"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.train + " " + row.more);
    const auto fleet = [&](const std::string& device) {
      return read_text(fmt::format(
          "version: 1\npeers: 4\nstop: {{ rounds: 5 }}\n{}train: {{ device: {}{}{} }}\n", row.more,
          device, row.train.empty() ? "" : ", ", row.train));
    };
    try {
      const Assembly assembly(fleet("cuda"));
      ADD_FAILURE() << "nobody refused it";
    } catch (const FleetError& e) {
      EXPECT_NE(std::string(e.what()).find(row.why), std::string::npos) << e.what();
    }
    const Assembly assembly(fleet("auto"));
    EXPECT_EQ(assembly.replica(3)->buffer_memory(), nullptr) << "a device's has pinned memory";
  }
}

/// A fleet for GPUs can be planned and simulated on any machine.
TEST_F(Devices, AssemblyAndSimulationNeedNoCuda) {
  const Assembly fleet(
      read_text("version: 1\nstop: { rounds: 5 }\nmodel: softmax\ndata: { kind: blobs, train: 64, "
                "test: 8 }\npeers: [{ device: cuda }, { device: auto }]\n"));
  EXPECT_EQ(fleet.host_replica(0)->size(), fleet.dimension);
  if (cuda_available()) GTEST_SKIP() << "a CUDA device is here: the replica would live there";
  EXPECT_THROW(fleet.replica(0), std::runtime_error);
  EXPECT_EQ(fleet.replica(1)->size(), fleet.dimension);
}

/// The speeds of two machines have one unit if the second is measured relative to the first.
TEST_F(Devices, AreMeasuredBesideTheFirstOrBesideAnotherMachine) {
  const Assembly fleet(
      read_text("version: 1\nstop: { rounds: 5 }\nmodel: softmax\ndata: { kind: blobs, train: 64, "
                "test: 8 }\n"));
  for (const double beside : {0.0, 1000.0}) {
    std::size_t told = 0;
    const auto rows = bench_devices(fleet, {4, 8}, 0, beside, [&](const DeviceRow&) { ++told; });
    ASSERT_GE(rows.size(), 2U);
    EXPECT_EQ(told, rows.size());
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_GT(rows[k].samples_per_second, 0);
      const double unit = beside > 0 ? beside : rows[k].samples_per_second;
      EXPECT_DOUBLE_EQ(rows[k].speed, rows[k].samples_per_second / unit);
    }
  }
}

TEST(BatchShares, AreInProportionAndSumToTheWhole) {
  EXPECT_EQ(*batch_shares(std::vector<double>{1, 1, 1}, 32),
            (std::vector<std::uint32_t>{32, 32, 32}));
  EXPECT_EQ(*batch_shares(std::vector<double>{1, 3}, 32), (std::vector<std::uint32_t>{16, 48}));
  EXPECT_EQ(*batch_shares(std::vector<double>{1, 1, 1.5}, 5),
            (std::vector<std::uint32_t>{4, 4, 7}));  // 4.29, 4.29, 6.43: the .43 is the largest
  Rng rng(5);
  for (int i = 0; i < 200; ++i) {
    std::vector<double> speeds(1 + rng.below(20));
    for (double& speed : speeds) speed = 0.1 + rng.uniform();
    const auto mean = static_cast<std::uint32_t>(30 + rng.below(100));
    const auto batches = *batch_shares(speeds, mean);
    const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    EXPECT_EQ(std::accumulate(batches.begin(), batches.end(), 0U), mean * speeds.size());
    for (std::size_t k = 0; k < speeds.size(); ++k) {
      const double exact = speeds[k] / sum * mean * static_cast<double>(speeds.size());
      EXPECT_LT(std::abs(batches[k] - exact), 1) << "no peer is off by a whole sample";
    }
  }
  EXPECT_FALSE(batch_shares(std::vector<double>{1, 1000}, 32));
}

/// Draws the variance of a mean of n independent gradients, each a mean over its own batch.
TEST(BatchShares, UnequalBatchesAreNoisierAsTheFormulaSays) {
  EXPECT_EQ(noise_of_unequal(std::vector<std::uint32_t>{32, 32}), 1);
  const std::vector<std::uint32_t> batches{2, 14};
  const auto variance = [](const std::vector<std::uint32_t>& of) {
    Rng rng(6);
    double square = 0;
    constexpr int draws = 40'000;
    for (int i = 0; i < draws; ++i) {
      double mean = 0;
      for (const std::uint32_t batch : of) {
        double sum = 0;
        for (std::uint32_t k = 0; k < batch; ++k) sum += rng.normal();
        mean += sum / batch / static_cast<double>(of.size());
      }
      square += mean * mean / draws;
    }
    return square;
  };
  const double measured = variance(batches) / variance({8, 8});
  EXPECT_NEAR(measured, noise_of_unequal(batches), 0.05 * measured);  // about 7 deviations
}

TEST_F(Devices, BatchAutoFollowsTheSpeeds) {
  const std::string peers = "peers: [{ count: 2 }, { speed: 6 }]\n";
  EXPECT_EQ(batches_of(read(peers + "train: { batch: auto }\n")),
            (std::vector<std::uint32_t>{12, 12, 72}));
  EXPECT_TRUE(notices_.empty());
  EXPECT_EQ(batches_of(read(peers + "train: { batch: { kind: auto, mean: 64 } }\n")),
            (std::vector<std::uint32_t>{24, 24, 144}));
  EXPECT_EQ(batches_of(read("peers: 3\ntrain: { batch: auto }\n")),
            (std::vector<std::uint32_t>{32, 32, 32}));
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_NE(notices_[0].find("grapevine bench device"), std::string::npos);
}

TEST_F(Devices, BatchAutoRefusesWhatContradictsIt) {
  const std::string both = problem("peers: [{ batch: 8 }]\ntrain: { batch: auto }\n");
  EXPECT_NE(both.find(":4:18 a group's `batch` and `train.batch: auto` exclude each other"),
            std::string::npos)
      << both;
  const std::string none =
      problem("peers: [{ speed: 1 }, { speed: 1000 }]\ntrain: { batch: auto }\n");
  EXPECT_NE(none.find(":5:17 batches of 32 on average leave the slowest peer"), std::string::npos)
      << none;
  EXPECT_NE(problem("train: { batch: atuo }\n").find("`atuo`"), std::string::npos);
  EXPECT_NE(problem("train: { batch: { kind: auto, maen: 3 } }\n").find("did you mean `mean`?"),
            std::string::npos);
}

}  // namespace
}  // namespace gv
