#include "peer/fleet/reference/key_table.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "graph/topologies.h"
#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/fleet.h"
#include "tests/peer/fleet/keys/key_fixture.h"

namespace gv {
namespace {

/// Returns whether an example needs another file: a graph for topology.file, or a library for
/// `plugin`, which launch/plugin_test.cpp tests.
bool needs_more_than_a_file(const KeyRow& row) {
  return row.key == "topology.file" || row.key == "plugin";
}

TEST_F(KeyTable, EveryExampleIsReadAndHasItsKey) {
  for (const KeyRow& row : fleet_file_keys()) {
    if (needs_more_than_a_file(row)) continue;
    EXPECT_TRUE(asked(row.example).contains(row.key)) << row.key << ": " << row.example;
    const std::string last = row.key.substr(row.key.rfind('.') + 1);
    EXPECT_NE(row.example.find(last + ":"), std::string::npos) << row.key << ": " << row.example;
  }
}

TEST_F(KeyTable, EveryKeyThatAReaderAsksForHasARow) {
  std::set<std::string> known;
  for (const KeyRow& row : fleet_file_keys()) known.insert(row.key);
  // Keys that only contain other keys.
  for (const char* map :
       {"hosts", "peers", "data", "train", "parallel", "evaluate", "checkpoint", "output", "launch",
        "faults", "robust", "attackers", "network", "simulate"})
    known.insert(map);
  std::set<std::string> all;
  for (const KeyRow& row : fleet_file_keys())
    if (!needs_more_than_a_file(row)) all.merge(asked(row.example));
  for (const DataKind& row : data_kinds()) {
    const std::string places =
        fmt::format(", dir: pictures, file: {}", row.kind == "libsvm" ? "a.libsvm" : "a.csv");
    // A refused file has read its keys before.
    write("fleet.yaml", fmt::format("version: 1\ndata: {{ kind: {}{} }}\nstop: {{ rounds: 1 }}\n",
                                    row.kind, places));
    std::set<std::string> keys;
    try {
      keys = asked_keys(folder_.path() + "/fleet.yaml");
    } catch (const FleetError&) {
    }
    all.merge(keys);
  }
  for (const std::string& key : all) EXPECT_TRUE(known.contains(key)) << key << " has no row";
}

TEST_F(KeyTable, NoKeyStandsTwiceAndEachSaysSomething) {
  std::set<std::string> keys;
  for (const KeyRow& row : fleet_file_keys()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_FALSE(row.takes.empty()) << row.key;
    EXPECT_GT(row.meaning.size(), 3U) << row.key;
  }
  EXPECT_GT(keys.size(), 150U);
}

/// Every method, model, graph, schedule and kind of data has its own rows.
TEST_F(KeyTable, WhatIsRegisteredHasRows) {
  std::set<std::string> keys;
  for (const KeyRow& row : fleet_file_keys()) keys.insert(row.key);
  for (const AlgorithmRow* row : algorithms())
    for (const Option& option : row->options)
      EXPECT_TRUE(keys.contains(fmt::format("algorithm.{}", option.name))) << row->kind;
  for (const TopologyFamily* family : topology_families())
    for (const GraphParameter& parameter : family->parameters)
      EXPECT_TRUE(keys.contains(fmt::format("topology.{}", parameter.name))) << family->name;
  for (const DataKind& row : data_kinds())
    for (const DataKey& key : row.keys)
      EXPECT_TRUE(keys.contains("data." + key.name)) << row.kind << " " << key.name;
}

}  // namespace
}  // namespace gv
