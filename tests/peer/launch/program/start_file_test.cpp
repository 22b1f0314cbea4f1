#include "peer/launch/program/start_file.h"

#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "peer/model/tensors/tensor_file.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// The layouts that PyTorch gives to a matrix, its transpose and a channels_last picture.
asked::Introduction start_introduction() {
  return {.parameters = {{"m", {2, 3}, {3, 1}},
                         {"t", {2, 3}, {1, 2}},
                         {"conv", {1, 2, 2, 2}, {8, 1, 4, 2}},
                         {"b", {}, {}}},
          .evaluates = true};
}

std::vector<float> counted(std::size_t n) {
  std::vector<float> x(n);
  std::iota(x.begin(), x.end(), 0.F);
  return x;
}

TEST(StartFile, HasTheTensorsInTheOrderOfTheirShapes) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/start.safetensors";
  write_start(path, start_introduction(), counted(21));
  const auto file = open_safetensors(path);
  ASSERT_EQ(file->tensors().size(), 4U);
  const std::map<std::string, std::vector<float>> values{{"m", {0, 1, 2, 3, 4, 5}},
                                                         {"t", {6, 8, 10, 7, 9, 11}},
                                                         {"conv", {12, 14, 16, 18, 13, 15, 17, 19}},
                                                         {"b", {20}}};
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_EQ(file->read(k), values.at(file->tensors()[k].name)) << file->tensors()[k].name;
}

TEST(StartFile, ComesBackAsItLayInMemory) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/start.safetensors";
  write_start(path, start_introduction(), counted(21));
  const ProgramModel model = read_start(path);
  EXPECT_EQ(model.start, counted(21));
  EXPECT_EQ(model.parameters[2].name, "conv");
  EXPECT_EQ(digest_of(model), digest_of(model_of(start_introduction(), {})));
}

TEST(StartFile, OfAnotherOriginIsRefused) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/other.safetensors";
  const std::vector<float> x{1, 2};
  write_safetensors(path, {{.name = "w", .shape = {2}, .values = x}}, {});
  EXPECT_THROW(read_start(path), std::runtime_error);
}

}  // namespace
}  // namespace gv
