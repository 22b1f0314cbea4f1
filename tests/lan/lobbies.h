#pragma once

#include <memory>

#include "tests/lan/lab.h"

namespace gv {

using Joined = std::unique_ptr<Program>;

class Lobbies : public Lab {
 protected:
  /// Writes a fleet of a small model that no machine needs files for.
  std::string lobby_fleet(int peers, const std::string& more) const {
    return fleet("fleet.yaml", fmt::format("peers: {}\n", peers), more);
  }
  std::vector<std::string> words_of_lobby(std::vector<std::string> arguments) const {
    std::vector<std::string> all{lab_,
                                 "in",
                                 folder(),
                                 lobby_host(),
                                 "env",
                                 "XDG_CACHE_HOME=" + path("cache_lobby"),
                                 grapevine_program(),
                                 "lobby"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }
  virtual std::string lobby_host() const { return "desk"; }
  Program opened(std::vector<std::string> arguments) const {
    return Program(words_of_lobby(std::move(arguments)), Program::as_it_stands);
  }
  /// Returns what follows a mark on the lobby's screen, up to the next white space.
  static std::string word_after(Program& lobby, const std::string& mark) {
    EXPECT_TRUE(lobby.says(mark));
    std::istringstream rest(lobby.errors().substr(lobby.errors().find(mark) + mark.size()));
    std::string word;
    rest >> word;
    return word;
  }
  static std::string code_of(Program& lobby) { return word_after(lobby, "code   "); }

  Joined join(const std::string& host,
              const std::string& code,
              const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{
        lab_, "in",    folder(), host, grapevine_program(), "join",
        code, "--yes", "--name", host, "--folder",          path("folder_" + host)};
    all.insert(all.end(), more.begin(), more.end());
    return std::make_unique<Program>(all, Program::as_it_stands);
  }
  std::vector<Joined> join_all(const std::string& code,
                               const std::vector<std::string>& more = {}) const {
    std::vector<Joined> all;
    for (const char* host : {"anna", "ben", "carl"}) all.push_back(join(host, code, more));
    return all;
  }
  static void expect_closed(const std::vector<Joined>& all) {
    for (const Joined& each : all) {
      const Ended end = each->wait();
      EXPECT_EQ(end.code, 0) << end.err;
      EXPECT_NE(end.err.find("the lobby has closed"), std::string::npos) << end.err;
    }
  }
  static std::string simulated(const std::string& file) {
    return run({"simulate", file, "--no-save", "--json"}).summary().at("params_hash");
  }
  /// Returns whether the run has reported this round.
  static bool has_round(const std::string& file, int round) {
    std::ifstream in(file + ".run/metrics.jsonl");
    for (std::string line; std::getline(in, line);) {
      const auto row = nlohmann::json::parse(line, nullptr, false);
      if (row.is_object() && row.value("round", 0) >= round) return true;
    }
    return false;
  }
};

inline constexpr const char* with_checkpoints =
    "checkpoint: { every: 20 rounds }\nevaluate: { every: 20 rounds }\n"
    "network: { latency: 2 ms, emulate: true }\nfaults: { deadline: 1 s }\n";

}  // namespace gv
