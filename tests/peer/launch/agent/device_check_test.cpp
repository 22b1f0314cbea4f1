#include <gtest/gtest.h>

#include "gpu/cuda_replica.h"
#include "peer/launch/agent/facts/facts.h"
#include "peer/launch/agent/lan/lan_check.h"
#include "tests/scratch_folder.h"

// The devices of a machine, and those that a fleet file needs.

namespace gv {
namespace {

const std::vector<DeviceFacts> two{{0, "H100", 85'000'000'000}, {1, "H100", 85'000'000'000}};

std::vector<std::string> findings(const HostDevices& host, std::vector<PeerSpec> peers) {
  std::vector<PeerId> ids;
  for (PeerId i = 0; i < peers.size(); ++i) ids.push_back(i);
  return device_findings(host, ids, peers);
}

TEST(DeviceCheck, WhatIsThereIsFine) {
  const HostDevices anna{.name = "anna", .cores = 8, .devices = two, .no_device = {}};
  EXPECT_TRUE(findings(anna, {{.device = "cuda"},
                              {.device = "cuda:1"},
                              {.device = "auto", .threads = 64},
                              {.device = "cpu", .threads = 8}})
                  .empty())
      << "who trains on CUDA takes no core from the others";
  const HostDevices old{.name = "old", .cores = 8};
  EXPECT_TRUE(findings(old, {{.device = "cuda:7"}}).empty()) << "it did not tell";
}

TEST(DeviceCheck, ADeviceThatIsNotThereIsNamedWithThoseThatAre) {
  const HostDevices anna{.name = "anna", .cores = 8, .devices = two, .no_device = {}};
  const auto found = findings(anna, {{.device = "cuda:1"}, {.device = "cuda:2"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(
      found[0].starts_with("host anna: peer 1 is to train on `cuda:2`; CUDA devices there: "
                           "cuda:0 and cuda:1\nhelp:  write a device that is there"))
      << found[0];
  const HostDevices ben{.name = "ben",
                        .cores = 8,
                        .devices = std::vector<DeviceFacts>{},
                        .no_device = "built without CUDA\x1b[2J"};
  const auto none = findings(ben, {{.device = "cuda"}});
  ASSERT_EQ(none.size(), 1U);
  EXPECT_NE(none[0].find("CUDA devices there: none: built without CUDA?[2J"), std::string::npos)
      << none[0];
}

TEST(DeviceCheck, MoreThreadsThanCoresAreNamed) {
  const HostDevices ben{
      .name = "ben", .cores = 4, .devices = std::vector<DeviceFacts>{}, .no_device = "none"};
  EXPECT_TRUE(findings(ben, {{.threads = 4}}).empty());
  EXPECT_TRUE(findings(ben, std::vector<PeerSpec>(16)).empty())
      << "many small peers on one machine are as their user wants it";
  const auto one = findings(ben, {{.device = "auto", .threads = 5}});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_TRUE(
      one[0].starts_with("host ben: one peer is to compute with 5 threads, and it has 4 "
                         "cores"))
      << one[0];
  EXPECT_TRUE(one[0].ends_with("help:  write `threads: 4` for its peers")) << one[0];
  const auto three = findings(ben, {{.threads = 2}, {.threads = 2}, {.threads = 2}});
  ASSERT_EQ(three.size(), 1U);
  EXPECT_NE(three[0].find("3 peers are to compute with 6 threads"), std::string::npos) << three[0];
  EXPECT_TRUE(three[0].ends_with("write `threads: 1` for its peers")) << three[0];
}

/// Devices are sent only on request. The answer of an older agent, without devices, is accepted.
TEST(DeviceCheck, DevicesTravelWhereTheyAreAskedFor) {
  const ScratchFolder folder;
  EXPECT_FALSE(parse_look(look_text({}, folder.path()), 0).devices);
  const DataLook look = parse_look(look_text({}, folder.path(), true), 0);
  ASSERT_TRUE(look.devices);
  const CudaStatus here = cuda_status();
  EXPECT_EQ(look.devices->size(), here.devices.size());
  EXPECT_EQ(look.no_device.empty(), !here.devices.empty()) << look.no_device;
  const std::string told = R"({"data":[],"free_bytes":1,"no_device":"","devices":)";
  const DataLook one =
      parse_look(told + R"([{"number":3,"name":"T4","memory_bytes":16000000000}]})", 0);
  ASSERT_EQ(one.devices->size(), 1U);
  EXPECT_EQ((*one.devices)[0].number, 3);
  EXPECT_EQ((*one.devices)[0].name, "T4");
  for (const char* bad :
       {R"([{"number":"3","name":"T4","memory_bytes":1}]})", R"([{"number":3,"memory_bytes":1}]})",
        R"([{"number":3,"name":"T4","memory_bytes":-1}]})"})
    EXPECT_THROW(parse_look(told + bad, 0), std::exception) << bad;
}

TEST(DeviceCheck, FactsTellTheVersion) {
  EXPECT_EQ(parse_facts(facts_text(own_facts())).version, own_facts().version);
  EXPECT_FALSE(own_facts().version.empty());
  const std::string old =
      R"({"wire":4,"processor":"p","cores":1,"memory_bytes":1,"clock":1,"addresses":[]})";
  EXPECT_EQ(parse_facts(old).version, "");
}

}  // namespace
}  // namespace gv
