// The four files of a data set of the MNIST family: images and labels, for training and tests.
#include <stdexcept>

#include "tests/fuzz/dataset_check.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gv::fuzz::Files files;
  gv::fuzz::Input input(data, size);
  const std::string images(input.file()), labels(input.file());
  // In most inputs only the training files matter; the test files are then copies.
  const bool same = input.empty();
  files.write("train-images-idx3-ubyte", images);
  files.write("train-labels-idx1-ubyte", labels);
  files.write("t10k-images-idx3-ubyte", same ? images : input.file());
  files.write("t10k-labels-idx1-ubyte", same ? labels : input.file());
  try {
    gv::fuzz::check(gv::read_idx(files.folder()));
  } catch (const std::runtime_error& e) {
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
