#include "peer/model/tensors/tensor_file.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string_view>

#include "optim/data/field.h"
#include "optim/data/table/npy_array.h"
#include "optim/data/table/zip_entry.h"
#include "peer/model/tensors/safetensors.h"

namespace gv {
namespace {

/// "fc.weight" of "fc.weight.npy".
constexpr std::string_view suffix = ".npy";

class NpzTensors : public TensorFile {
 public:
  explicit NpzTensors(std::string path) : path_(std::move(path)) {
    std::set<std::string> seen;
    for (const std::string& entry : zip_entries(path_)) {
      if (!entry.ends_with(suffix)) continue;
      const std::string name = entry.substr(0, entry.size() - suffix.size());
      if (!seen.insert(name).second)
        throw std::runtime_error(path_ + ": two arrays are called " + shown(name));
      tensors_.push_back({.name = name, .shape = array(name).shape()});
    }
    if (tensors_.empty())
      throw std::runtime_error(path_ + ": no arrays; numpy.savez(file, **{\"fc.weight\": w})");
  }

  std::vector<float> read(std::size_t k) const override {
    NpyArray from = array(tensors_[k].name);
    std::vector<float> values;
    values.reserve(from.rows() * from.columns());
    std::vector<double> row(from.columns());
    for (std::uint64_t r = 0; r < from.rows(); ++r) {
      from.read(row);
      for (const double number : row) values.push_back(checked(k, number));
    }
    return values;
  }

 private:
  NpyArray array(const std::string& name) const {
    return {path_ + ": tensor " + shown(name), open_zip_entry(path_, name + std::string(suffix))};
  }
  float checked(std::size_t k, double number) const {
    const auto value = static_cast<float>(number);
    if (!std::isfinite(value))
      throw std::runtime_error(path_ + ": tensor " + shown(tensors_[k].name) +
                               " has values that are not finite; train it again from before");
    return value;
  }

  std::string path_;
};

}  // namespace

std::uint64_t TensorShape::count() const {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) product *= extent;
  return product;
}

std::unique_ptr<TensorFile> open_tensors(const std::string& path) {
  constexpr const char* wanted = "name a .safetensors file, or an .npz of numpy.savez";
  // Check before opening: opening a pipe without a writer would block.
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

std::unique_ptr<TensorFile> open_npz_tensors(const std::string& path) {
  return std::make_unique<NpzTensors>(path);
}

}  // namespace gv
