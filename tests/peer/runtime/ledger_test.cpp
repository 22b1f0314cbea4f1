#include "peer/runtime/ledger.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/error_in.h"

namespace gv {
namespace {

void write(const ScratchFolder& folder, const std::string& name, const std::string& text) {
  std::filesystem::create_directories(folder.path() + "/peers/000");
  std::ofstream(folder.path() + "/peers/000/" + name) << text;
}

std::string error_of(const ScratchFolder& folder) {
  return error_in(folder, [&] { read_ledgers(folder.path()); });
}

/// A run folder may come from anyone, so the name of a ledger may not be a number.
TEST(Ledger, AFileOfAnotherNameIsNamed) {
  for (const char* name : {"ledger-.txt", "ledger-xyz.txt", "ledger-12345678901234567.txt"}) {
    const ScratchFolder folder;
    write(folder, name, "");
    EXPECT_EQ(error_of(folder),
              std::string("peers/000/") + name + ": its name is not that of a ledger; remove it");
  }
}

TEST(Ledger, ALineIsReadToTheBit) {
  const ScratchFolder folder;
  write(folder, "ledger-0000000000000001.txt",
        "0 1 4294967295 f 18446744073709551615 3 3e800000 "
        "ffffffffffffffff a 3ff8000000000000 .\nend\n");
  const Ledgers ledgers = read_ledgers(folder.path());
  ASSERT_EQ(ledgers.entries.size(), 1U);
  EXPECT_TRUE(ledgers.dead.empty());
  const LedgerEntry& e = ledgers.entries[0];
  EXPECT_EQ(e.with, 4294967295U);
  EXPECT_EQ(e.with_incarnation, 15U);
  EXPECT_EQ(e.exchange.value, 18446744073709551615U);
  EXPECT_EQ(e.weight, 0.25F);
  EXPECT_EQ(e.ours, 0xFFFFFFFFFFFFFFFFU);
  EXPECT_EQ(e.theirs, 10U);
  EXPECT_EQ(e.bound, 1.5);
}

TEST(Ledger, ANumberBeyondItsTypeIsNoLine) {
  for (const char* line :
       {"4294967296 1 1 2 5 0 3e800000 a b 0 .", "0 1 -1 2 5 0 3e800000 a b 0 ."}) {
    const ScratchFolder folder;
    write(folder, "ledger-0000000000000001.txt", std::string(line) + "\nend\n");
    EXPECT_EQ(
        error_of(folder),
        std::string("peers/000/ledger-0000000000000001.txt:1: not a line of a ledger: ") + line);
  }
}

TEST(Ledger, ALineThatIsNoneIsShownAndControlsNoTerminal) {
  const ScratchFolder folder;
  write(folder, "ledger-0000000000000001.txt", "\x1b[2J\x07" + std::string(1000, 'x') + "\nend\n");
  EXPECT_EQ(error_of(folder),
            "peers/000/ledger-0000000000000001.txt:1: not a line of a ledger: ?[2J?" +
                std::string(195, 'x') + "...");
}

}  // namespace
}  // namespace gv
