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

/// A run folder may come from anybody: its names are no numbers because ours are.
TEST(Ledger, AFileOfAnotherNameIsNamed) {
  for (const char* name : {"ledger-.txt", "ledger-xyz.txt", "ledger-12345678901234567.txt"}) {
    const ScratchFolder folder;
    write(folder, name, "");
    EXPECT_EQ(
        error_of(folder),
        std::string("peers/000/") + name + ": its name is not that of a ledger; take it away");
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
