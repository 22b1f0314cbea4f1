#include "peer/model/tensors/tensor_file.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "peer/model/tensors/safetensors.h"

namespace gv {

std::uint64_t TensorShape::count() const {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) product *= extent;
  return product;
}

std::unique_ptr<TensorFile> open_tensors(const std::string& path) {
  constexpr const char* wanted = "name a .safetensors file, or an .npz of numpy.savez";
  // Asked before it is opened: a pipe to which nobody writes would be waited for.
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);
  std::ifstream in;
  if (regular) in.open(path, std::ios::binary);
  if (!regular || !in) throw std::runtime_error(path + ": cannot be opened; " + wanted);
  std::array<char, 9> first{};
  in.read(first.data(), first.size());
  if (in.gcount() == 0) throw std::runtime_error(path + ": the file is empty; " + wanted);
  if (std::string_view(first.data(), 4) == "PK\x03\x04") return open_npz_tensors(path);
  if (in.gcount() < 9 || first[8] != '{')
    throw std::runtime_error(path + ": neither safetensors nor NPZ; " + wanted);
  return open_safetensors(path);
}

}  // namespace gv
