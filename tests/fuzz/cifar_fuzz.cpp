// CIFAR-10: files of one record, or as text.
#include <filesystem>
#include <stdexcept>

#include "optim/data/sets/image_sets.h"
#include "tests/fuzz/dataset_check.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

namespace {

void read(const gv::fuzz::Files& files) {
  try {
    gv::fuzz::check(gv::read_cifar10(files.folder(), 1));
  } catch (const std::runtime_error& e) {
    gv::fuzz::check_refusal(e);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gv::fuzz::Files binary, text;
  gv::fuzz::Input input(data, size);
  if (input.flag()) {
    std::string record(input.text());
    for (const char* name : {"1", "2", "3", "4", "5"})
      binary.write("data_batch_" + std::string(name) + ".bin", record);
    binary.write("test_batch.bin", record);
    read(binary);
    return 0;
  }
  // `*` stands for a thousand pixels, so that a row of 3072 pixels is short in an input.
  std::string rows;
  for (const char c : input.text()) {
    if (c != '*') {
      rows += c;
    } else if (rows.size() < 1U << 16U) {
      for (int k = 0; k < 1000; ++k) rows += k == 0 ? "7" : ",7";
    }
  }
  text.write("train.csv", rows);
  text.write("test.csv", rows);
  read(text);
  return 0;
}
