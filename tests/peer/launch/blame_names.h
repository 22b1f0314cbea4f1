#pragma once

#include <cctype>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/peer/launch/program.h"

// Names of the cause for which the other peers wait, as `run`, `top` and `report` give them.

namespace gv {

using Names = std::set<std::string>;

/// Returns the text before "holds the others up" in each line.
inline Names named_in(const std::string& text) {
  static const std::regex line(
      "(?:^|\n|! |\")(?:  )*([Tt]he [^\n\"]*|[Pp]eer [0-9]+(?: \\([a-z]+\\))?) holds the others "
      "up");
  Names names;
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
    std::string name = (*at)[1];
    name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
    names.insert(name);
  }
  return names;
}

/// Returns the names in a text whose sentences continue on indented lines.
inline Names named_in_wrapped(const std::string& text) {
  return named_in(std::regex_replace(text, std::regex("\n {2,}"), " "));
}

struct NamedBy {
  Names run, top, report;
};

/// Causes a delay, for example by stopping a peer. Called repeatedly until the run ends.
using Plant = std::function<void()>;

/// Returns the names from each command, for a run that has begun. `top` is called after 15 s.
inline NamedBy named_by(Program& launcher,
                        const std::string& folder,
                        const std::string& page,
                        const Plant& plant) {
  const auto plant_while = [&](const auto& goes_on) {
    while (goes_on()) {
      if (plant) plant();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(15);
  plant_while([&] { return std::chrono::steady_clock::now() < end; });
  const std::string top = run({"top", folder, "--once"}).output();
  plant_while([&] { return alive(launcher.pid()); });
  const Ended ended = launcher.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Ended report = run({"report", folder, "-o", page});
  return {named_in_wrapped(ended.err), named_in(top), named_in_wrapped(report.output())};
}

inline void expect_all(const NamedBy& told, const Names& names) {
  EXPECT_EQ(told.run, names) << "run";
  EXPECT_EQ(told.top, names) << "top";
  EXPECT_EQ(told.report, names) << "report";
}

/// Expects at least these names. Others are allowed, because a cause slows its surroundings too.
inline void expect_among(const NamedBy& told, const Names& names) {
  for (const std::string& name : names) {
    EXPECT_TRUE(told.run.contains(name)) << name << "; run: " << testing::PrintToString(told.run);
    EXPECT_TRUE(told.top.contains(name)) << name << "; top: " << testing::PrintToString(told.top);
    EXPECT_TRUE(told.report.contains(name))
        << name << "; report: " << testing::PrintToString(told.report);
  }
}

/// Stops a process, and continues it after this time.
inline void stop_for(pid_t pid, std::chrono::milliseconds time) {
  ::kill(pid, SIGSTOP);
  std::this_thread::sleep_for(time);
  ::kill(pid, SIGCONT);
}

}  // namespace gv
