// Sparse rows in LIBSVM's format.
#include <stdexcept>

#include "optim/data/libsvm.h"
#include "tests/fuzz/dataset_check.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gv::fuzz::Files files;
  gv::fuzz::Input input(data, size);
  const std::string train = files.write("train", input.file());
  const std::string test = input.empty() ? "" : files.write("test", input.file());
  try {
    gv::fuzz::check(gv::read_libsvm(train, test));
  } catch (const std::runtime_error& e) {
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
