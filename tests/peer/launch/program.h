#pragma once

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "peer/launch/process/process.h"
#include "tests/places.h"

namespace gv {

/// Waits until a condition holds. Returns false after a minute.
template <class Condition>
bool comes_true(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

inline bool alive(pid_t pid) {
  // A dead child of a dead launcher may wait for init to take it.
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string number, name, state;
  return in >> number >> name >> state && state != "Z" && state != "X";
}

/// Output of a program, and how it ended.
struct Ended {
  int code = -1;  ///< exit code, or 1000 + signal
  std::vector<std::string> out;
  std::string err;
  /// Standard output in one piece.
  std::string output() const { return fmt::format("{}\n", fmt::join(out, "\n")); }
  nlohmann::json summary() const {
    return out.empty() ? nlohmann::json() : nlohmann::json::parse(out.back(), nullptr, false);
  }
};

/// The grapevine program (grapevine_program), run as a user would.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments) : child_(with_name(std::move(arguments))) {}
  /// Marks a command that begins with another program.
  enum AsItStands : std::uint8_t { as_it_stands };
  Program(const std::vector<std::string>& command, AsItStands) : child_(command) {}

  void kill(int signal) { child_.kill(signal); }
  void tell(const std::string& line) { child_.tell(line); }  ///< to its stdin
  pid_t pid() const { return child_.pid(); }
  /// Waits until its standard error holds `text`.
  testing::AssertionResult says(const std::string& text) {
    const auto said = [&] { return read().find(text) != std::string::npos; };
    comes_true([&] { return said() || child_.reap(); });
    if (said()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "not said: " << text << "; but\n" << ended_.err;
  }
  /// Returns its standard error until now.
  std::string errors() { return read(); }
  Ended wait() {
    const bool over = comes_true([&] {
      const bool gone = child_.reap() || !child_.running();
      read();
      return gone;
    });
    EXPECT_TRUE(over) << "the program hangs";
    if (!over) return ended_;
    const int status = child_.status();
    ended_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    return ended_;
  }

 private:
  static std::vector<std::string> with_name(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), grapevine_program());
    return arguments;
  }
  const std::string& read() {
    for (std::string& line : child_.output().read()) ended_.out.push_back(std::move(line));
    for (const std::string& line : child_.errors().read()) ended_.err += line + "\n";
    return ended_.err;
  }

  Child child_;
  Ended ended_;
};

inline Ended run(std::vector<std::string> arguments) {
  return Program(std::move(arguments)).wait();
}

/// Runs the program with the words of a line, which are separated by single spaces.
inline Ended grapevine(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  return run(std::move(words));
}

}  // namespace gv
