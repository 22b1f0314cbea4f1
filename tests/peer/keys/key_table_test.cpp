#include "peer/keys/key_table.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gossip/registry.h"
#include "graph/topologies.h"
#include "peer/fleet/asked_keys.h"
#include "peer/fleet/fleet.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// The table of keys beside the readers.
class KeyTable : public testing::Test {
 protected:
  KeyTable() {
    write("a.csv", "x,c,y\n1,red,0\n2,blue,1\n3,red,0\n4,blue,1\n5,red,0\n");
    write("a.libsvm", "+1 1:1\n-1 2:1\n+1 1:2\n-1 2:2\n");
    write("book.txt", "aababcabcd");
    write("stats.yaml",
          "version: 1\ncolumns: [{ name: x, mean: 1, deviation: 1 }, { name: c, values: [red, "
          "blue] }]\nclasses: [\"0\", \"1\"]\n");
    write("lan.links.yaml", "version: 1\nlinks: []\n");
    write("start.safetensors", "anything");
    write("w.edges", "0 1\n1 2\n2 3\n");
    std::filesystem::create_directories(folder_.path() + "/pictures/a");
    std::filesystem::create_directories(folder_.path() + "/pictures/b");
    write("pictures/a/1.pgm", "P5 1 1 255\na");
    write("pictures/b/1.pgm", "P5 1 1 255\nb");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + name) << text;
  }
  /// The line in a small fleet file, whose own lines give way.
  std::string fleet_with(const std::string& line) const {
    const std::string top = line.substr(0, line.find(':'));
    std::map<std::string, std::string> lines{
        {"version", "version: 1"},
        {"peers", "peers: 4"},
        {"data", "data: { kind: digits, train: 400, test: 40 }"},
        {"stop", "stop: { rounds: 10 }"}};
    if (top == "topology") lines["peers"] = "peers: 16";
    if (line.find("flexrr") != std::string::npos || line.find("fedavg") != std::string::npos)
      lines["peers"] = "peers: 8";
    if (line.find("kind: hogwild") != std::string::npos) lines["data"] = "data: sparse";
    if (line.find("kind: transformer") != std::string::npos)
      lines["data"] = "data: { kind: text, file: book.txt, context: 8 }";
    if (line.find("kind: relay-sgd") != std::string::npos) lines["topology"] = "topology: star";
    if (line.find("kind: sgp") != std::string::npos) lines["topology"] = "topology: exponential";
    if (top == "peers" && line.find("host: ") != std::string::npos) lines["hosts"] = "";
    lines[top] = line;
    std::string text;
    for (const auto& [key, value] : lines) text += value + "\n";
    write("fleet.yaml", text);
    return folder_.path() + "/fleet.yaml";
  }
  /// What is asked for with this line; nothing where it is refused.
  std::set<std::string> asked(const std::string& line) const {
    try {
      std::set<std::string> keys;
      for (std::string key : asked_keys(fleet_with(line))) {
        if (key.starts_with("hosts.")) key = "hosts.NAME" + key.substr(key.rfind('.'));
        keys.insert(std::move(key));
      }
      return keys;
    } catch (const FleetError& e) {
      ADD_FAILURE() << line << "\n" << e.what();
      return {};
    }
  }

  ScratchFolder folder_;
};

TEST_F(KeyTable, EveryExampleIsReadAndHasItsKey) {
  for (const KeyRow& row : fleet_file_keys()) {
    if (row.key == "topology.file") continue;  // its example would need a graph of so many peers
    EXPECT_TRUE(asked(row.example).contains(row.key)) << row.key << ": " << row.example;
    const std::string last = row.key.substr(row.key.rfind('.') + 1);
    EXPECT_NE(row.example.find(last + ":"), std::string::npos) << row.key << ": " << row.example;
  }
}

TEST_F(KeyTable, EveryKeyThatAReaderAsksForHasARow) {
  std::set<std::string> known;
  for (const KeyRow& row : fleet_file_keys()) known.insert(row.key);
  // Keys that are maps of others and say nothing else.
  for (const char* map : {"hosts",
                          "peers",
                          "data",
                          "train",
                          "evaluate",
                          "checkpoint",
                          "output",
                          "launch",
                          "faults",
                          "robust",
                          "attackers",
                          "network",
                          "simulate"})
    known.insert(map);
  std::set<std::string> all;
  for (const KeyRow& row : fleet_file_keys())
    if (row.key != "topology.file") all.merge(asked(row.example));
  for (const char* kind : {"idx",
                           "digits",
                           "cifar10",
                           "text",
                           "linear",
                           "quadratic",
                           "blobs",
                           "teacher",
                           "sparse",
                           "libsvm",
                           "table",
                           "images"}) {
    const std::string places = ", dir: pictures, file: " +
                               std::string(std::string(kind) == "libsvm" ? "a.libsvm" : "a.csv");
    // Refused for this or that, it has asked for its keys before.
    write("fleet.yaml",
          fmt::format("version: 1\ndata: {{ kind: {}{} }}\nstop: {{ rounds: 1 }}\n", kind, places));
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

/// Every method, model, graph and schedule brings its own.
TEST_F(KeyTable, WhatIsRegisteredHasRows) {
  std::set<std::string> keys;
  for (const KeyRow& row : fleet_file_keys()) keys.insert(row.key);
  for (const AlgorithmRow* row : algorithms())
    for (const Option& option : row->options)
      EXPECT_TRUE(keys.contains(fmt::format("algorithm.{}", option.name))) << row->kind;
  for (const TopologyFamily* family : topology_families())
    for (const GraphParameter& parameter : family->parameters)
      EXPECT_TRUE(keys.contains(fmt::format("topology.{}", parameter.name))) << family->name;
}

}  // namespace
}  // namespace gv
