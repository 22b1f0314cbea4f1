#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "peer/fleet/fleet.h"
#include "peer/fleet/model_profile.h"
#include "tests/scratch_folder.h"

namespace gv {

/// The table of keys, compared with the readers.
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
    write("mlp.profile.json", profile_json(profile()).dump());
    std::filesystem::create_directories(folder_.path() + "/pictures/a");
    std::filesystem::create_directories(folder_.path() + "/pictures/b");
    write("pictures/a/1.pgm", "P5 1 1 255\na");
    write("pictures/b/1.pgm", "P5 1 1 255\nb");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + name) << text;
  }
  /// Returns the profile of some model. Only a fleet with a model compares the two.
  static ModelProfile profile() {
    ModelProfile profile;
    profile.model = "mlp";
    profile.rows = {1};
    profile.pieces = {
        {.name = "fc1", .parameters = 1, .forward_seconds = {1e-6}, .backward_seconds = {1e-6}}};
    return profile;
  }
  /// Returns a small fleet file with this line, which replaces the file's own line.
  std::string fleet_with(const std::string& line) const {
    const std::string top = line.substr(0, line.find(':'));
    std::map<std::string, std::string> lines{
        {"version", "version: 1"},
        {"peers", "peers: 4"},
        {"data", "data: { kind: digits, train: 400, test: 40 }"},
        {"stop", "stop: { rounds: 10 }"}};
    if (top == "program") lines["data"] = "";  // which it brings itself
    if (top == "topology") lines["peers"] = "peers: 16";
    if (line.find("flexrr") != std::string::npos || line.find("fedavg") != std::string::npos)
      lines["peers"] = "peers: 8";
    if (line.find("kind: hogwild") != std::string::npos) lines["data"] = "data: sparse";
    if (line.find("kind: transformer") != std::string::npos)
      lines["data"] = "data: { kind: text, file: book.txt, context: 8 }";
    if (line.find("kind: relay-sgd") != std::string::npos) lines["topology"] = "topology: star";
    if (line.find("kind: sgp") != std::string::npos) lines["topology"] = "topology: exponential";
    if (line.find("kind: robust-gossip") != std::string::npos)
      lines["topology"] = "topology: complete";
    if (top == "peers" && line.find("host: ") != std::string::npos) lines["hosts"] = "";
    // An example may have a second line, which also replaces the file's own.
    for (std::size_t at = line.find('\n'); at != std::string::npos; at = line.find('\n', at + 1))
      lines[line.substr(at + 1, line.find(':', at) - at - 1)] = "";
    lines[top] = line;
    std::string text;
    for (const auto& [key, value] : lines) text += value + "\n";
    write("fleet.yaml", text);
    return folder_.path() + "/fleet.yaml";
  }
  /// Returns the keys that are read in a file with this line, or none if it is refused.
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
  /// Returns the readers' messages about a fleet file with this line.
  std::vector<std::string> problems(const std::string& line) const {
    std::vector<std::string> all;
    try {
      asked_keys(fleet_with(line));
    } catch (const FleetError& e) {
      for (const Diagnostic& d : e.diagnostics()) all.push_back(d.message);
    }
    return all;
  }

  ScratchFolder folder_;
};

}  // namespace gv
