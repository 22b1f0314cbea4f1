#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "peer/model/tensors/tensor_file.h"

// https://github.com/huggingface/safetensors: u64 length of the header, little-endian; the header,
// a JSON object with dtype, shape and place in the data of each tensor, in which `__metadata__`
// maps texts to texts; data.

namespace gv {

/// A tensor to be written, in float32.
struct NamedTensor {
  std::string name;
  std::vector<std::uint32_t> shape;
  std::span<const float> values;
};

/// Maximum length of a header that is written or read.
inline constexpr std::uint64_t most_header_bytes = 16U << 20;

/// Writes a temporary file, then renames it. Throws std::runtime_error with the path, and
/// std::logic_error if shape and values of a tensor disagree.
void write_safetensors(const std::string& path,
                       const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata);

/// Opens tensors of F32, F64, F16 or BF16. Throws std::runtime_error "path: the error, and a
/// remedy". Compares the header's sizes with the file's length before any allocation.
std::unique_ptr<TensorFile> open_safetensors(const std::string& path);

}  // namespace gv
