#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

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

}  // namespace gv
