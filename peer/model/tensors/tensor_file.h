#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gv {

/// The name of a tensor of a file, and its extents; none: a single number.
struct TensorShape {
  std::string name;
  std::vector<std::uint64_t> shape;

  std::uint64_t count() const;  ///< numbers in it
};

/// A file of named tensors, which are read one by one.
class TensorFile {
 public:
  virtual ~TensorFile() = default;
  const std::vector<TensorShape>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// The values of tensors()[k], row-major, as floats. Throws std::runtime_error "path: tensor
  /// NAME: what is wrong" for what is damaged or not finite.
  virtual std::vector<float> read(std::size_t k) const = 0;

 protected:
  std::vector<TensorShape> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// safetensors or NPZ (numpy.savez(file, **{"fc.weight": w, ...})), told apart by its first bytes.
/// Throws std::runtime_error "path: what is wrong, and what to do".
std::unique_ptr<TensorFile> open_tensors(const std::string& path);
/// The arrays of an archive of numpy's.
std::unique_ptr<TensorFile> open_npz_tensors(const std::string& path);

}  // namespace gv
