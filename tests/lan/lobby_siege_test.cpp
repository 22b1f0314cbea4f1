#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/peer/launch/program.h"
#include "tests/places.h"

namespace gv {
namespace {

/// A lobby in a network of its own: a man in the middle of a join, a join while strangers occupy
/// the lobby, a thousand connections and packets, and an honest join. The script checks the
/// outcome of each. Few of the strangers guess codes, so that the honest join need not wait a
/// minute.
TEST(LobbySiege, StrangersAreNotLetInAndKeepNoMachineOut) {
  for (const char* needed : {"python3 --version", "openssl version", "ip -V", "unshare -rn true"})
    if (std::system(fmt::format("{} > /dev/null 2>&1", needed).c_str()) != 0)
      GTEST_SKIP() << "cannot run: " << needed;
  const std::string script = std::string(source_folder()) + "/tests/lan/lobby_siege";
  Program siege({"python3", script, grapevine_program(), "--count", "1000", "--guesses", "15"},
                Program::as_it_stands);
  const Ended end = siege.wait();
  EXPECT_EQ(end.code, 0) << end.output() << end.err;
}

}  // namespace
}  // namespace gv
