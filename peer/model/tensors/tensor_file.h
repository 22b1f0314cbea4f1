#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optim/models/objective.h"

namespace gv {

/// The name and the extents of a tensor in a file; no extents for a single number.
struct TensorShape {
  std::string name;
  std::vector<std::uint64_t> shape;

  std::uint64_t count() const;  ///< number of values
};

/// A file of named tensors, read one by one.
class TensorFile {
 public:
  virtual ~TensorFile() = default;
  const std::vector<TensorShape>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// The values of tensors()[k], row-major, as floats. Throws std::runtime_error "path: tensor
  /// NAME: the error" for values that are damaged or not finite.
  virtual std::vector<float> read(std::size_t k) const = 0;

 protected:
  std::vector<TensorShape> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// Opens safetensors or NPZ (numpy.savez(file, **{"fc.weight": w, ...})), distinguished by the
/// first bytes. Throws std::runtime_error "path: the error, and a remedy".
std::unique_ptr<TensorFile> open_tensors(const std::string& path);
/// Opens the arrays of a NumPy archive.
std::unique_ptr<TensorFile> open_npz_tensors(const std::string& path);

/// Returns the tensors of a file as one flat vector in the order of a model's parameters. Names and
/// shapes must be the model's; a file may have no other tensors except those that PyTorch stores
/// with a batch norm. Throws std::runtime_error "path: tensor NAME: the error, and a remedy".
std::vector<float> flat_values(const std::string& path,
                               const TensorFile& file,
                               const std::vector<Parameter>& parameters);

/// Returns the values of the tensor with the parameter's name and shape. Throws like flat_values.
std::vector<float> tensor_values(const std::string& path,
                                 const TensorFile& file,
                                 const Parameter& parameter);

/// Reads the start values of training, from `model: { start: FILE }`.
std::vector<float> start_values(const std::string& path, const std::vector<Parameter>& parameters);

// https://github.com/huggingface/safetensors: u64 length of the header, little-endian; the header,
// a JSON object with dtype, shape and place in the data of each tensor, in which `__metadata__`
// maps texts to texts; data.

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
