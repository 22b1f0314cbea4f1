// A model in the safetensors format.
#include "peer/model/tensors/tensor_file.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"
#include "tests/fuzz/tensors_body.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gv::fuzz::Files files;
  const std::string path = files.write("a", gv::fuzz::Input(data, size).text());
  try {
    gv::fuzz::read_tensors(*gv::open_safetensors(path));
  } catch (const std::runtime_error& e) {
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
