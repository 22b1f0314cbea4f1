// The ledgers of two processes, and their audit.
#include <stdexcept>

#include "peer/runtime/ledger.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gv::fuzz::Files files;
  gv::fuzz::Input input(data, size);
  files.write("peers/000/ledger-0000000000000001.txt", input.file());
  files.write("peers/001/ledger-0000000000000002.txt", input.file());
  try {
    gv::audit(gv::read_ledgers(files.folder()));
  } catch (const std::runtime_error& e) {
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
