#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "peer/model/tensors/tensor_file.h"

// https://github.com/huggingface/safetensors: u64 length of the header, little-endian; the header,
// JSON, in which each tensor has dtype, shape and its place in the data, and `__metadata__` maps
// texts to texts; data.

namespace gv {

/// A tensor to be written, in float32.
struct NamedTensor {
  std::string name;
  std::vector<std::uint32_t> shape;
  std::span<const float> values;
};

/// More in a header is neither written nor read.
inline constexpr std::uint64_t most_header_bytes = 16U << 20;

/// Written to a temporary file, which is then renamed. Throws std::runtime_error with the path, and
/// std::logic_error where shape and values of a tensor disagree.
void write_safetensors(const std::string& path,
                       const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata);

/// Tensors of F32, F64, F16 or BF16. Throws std::runtime_error "path: what is wrong, and what to
/// do"; nothing is allocated by what the header says before it is compared with the file's length.
std::unique_ptr<TensorFile> open_safetensors(const std::string& path);

}  // namespace gv
