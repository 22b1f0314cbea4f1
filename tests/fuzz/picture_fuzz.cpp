// One picture, PNG or PGM.
#include <stdexcept>

#include "optim/check.h"
#include "optim/data/images/picture_file.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gv::fuzz::Files files;
  const std::string path = files.write("a", gv::fuzz::Input(data, size).text());
  try {
    const gv::Picture picture = gv::read_picture(path);
    const gv::ImageShape& shape = picture.shape;
    GV_CHECK(shape.height > 0 && shape.height <= 4096 && shape.width > 0 && shape.width <= 4096,
             "sides within their bound");
    GV_CHECK_EQUAL(picture.pixels.size(), std::size_t{shape.channels} * shape.height * shape.width,
                   "a byte for each pixel");
  } catch (const std::runtime_error& e) {
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
