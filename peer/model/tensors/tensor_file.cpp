#include "peer/model/tensors/tensor_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/codec/codec_arithmetic.h"
#include "optim/data/field.h"
#include "optim/data/reading/zip_entry.h"
#include "optim/data/table/npy_array.h"
#include "optim/error_text.h"
#include "optim/printable.h"
#include "peer/fleet/json/json.h"

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

[[noreturn]] void refuse(const std::string& path,
                         const std::string& tensor,
                         const std::string& what) {
  throw std::runtime_error(fmt::format("{}: tensor {}: {}", path, shown(tensor), what));
}

std::string list_of(const TensorFile& file) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t k = 0; k < std::min(file.tensors().size(), most); ++k)
    text += (k == 0 ? "" : ", ") + shown(file.tensors()[k].name);
  if (file.tensors().size() > most)
    text += fmt::format(" and {} more", file.tensors().size() - most);
  return text.empty() ? "none" : text;
}

bool same_shape(const std::vector<std::uint64_t>& file, const std::vector<std::uint32_t>& model) {
  return std::ranges::equal(file, model);
}

/// PyTorch stores these with a batch norm's parameters.
bool is_running(const std::string& name) {
  return name.ends_with(".running_mean") || name.ends_with(".running_var") ||
         name.ends_with(".num_batches_tracked");
}

constexpr std::size_t most_extents = 8;
constexpr std::string_view about = "__metadata__";

std::uint64_t bytes_of(const NamedTensor& tensor) {
  std::uint64_t bytes = sizeof(float);
  for (const std::uint32_t extent : tensor.shape) bytes *= extent;
  return bytes;
}

std::string header_of(const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  Json header;
  Json& texts = header[about] = Json::object();
  for (const auto& [key, value] : metadata) texts.add(key, value);
  std::uint64_t offset = 0;
  for (const NamedTensor& tensor : tensors) {
    const std::uint64_t bytes = bytes_of(tensor);
    header.add(tensor.name, Json{{"dtype", "F32"},
                                 {"shape", tensor.shape},
                                 {"data_offsets", std::vector{offset, offset + bytes}}});
    offset += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

struct ElementType {
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array element_types{ElementType{"F32", 4}, ElementType{"F64", 8},
                                   ElementType{"F16", 2}, ElementType{"BF16", 2}};

template <class Number>
Number number_at(const char* from) {
  Number value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

float element(std::string_view type, const char* from) {
  if (type == "F64") return static_cast<float>(number_at<double>(from));
  if (type == "F16") return from_half(number_at<std::uint16_t>(from));
  if (type == "BF16")
    return std::bit_cast<float>(std::uint32_t{number_at<std::uint16_t>(from)} << 16);
  return number_at<float>(from);
}

class SafeTensors : public TensorFile {
 public:
  explicit SafeTensors(std::string path) : path_(std::move(path)) {
    const std::uint64_t size = std::filesystem::file_size(path_);
    std::uint64_t length = 0;
    if (size < sizeof length) fail("ends in its first eight bytes");
    open_bytes(path_, 0, sizeof length)->read(reinterpret_cast<char*>(&length), sizeof length);
    if (length > most_header_bytes || length > size - sizeof length)
      fail(fmt::format("promises a header of {} bytes; {} follow, and at most {} are read", length,
                       size - sizeof length, most_header_bytes));
    std::string header(length, ' ');
    open_bytes(path_, sizeof length, length)->read(header.data(), length);
    data_ = sizeof length + length;
    data_bytes_ = size - data_;
    read_header(header);
  }

  std::vector<float> read(std::size_t k) const override {
    const Place& place = places_[k];
    std::vector<char> bytes(place.bytes);
    open_bytes(path_, data_ + place.begin, place.bytes)->read(bytes.data(), bytes.size());
    std::vector<float> values(tensors_[k].count());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = element(place.type.name, bytes.data() + i * place.type.bytes);
    for (const float value : values)
      if (!std::isfinite(value))
        fail_at(tensors_[k].name, "has values that are not finite; take an earlier model");
    return values;
  }

 private:
  struct Place {
    std::uint64_t begin, bytes;
    ElementType type;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path_ + ": " + what + "; save it again, as safetensors or .npz");
  }
  [[noreturn]] void fail_at(const std::string& tensor, const std::string& what) const {
    throw std::runtime_error(path_ + ": tensor " + shown(tensor) + " " + what);
  }

  void read_header(const std::string& text) {
    JsonValue header;
    try {
      header = parse_json(text, path_);
    } catch (const std::exception& e) {
      throw std::runtime_error(std::string(e.what()) + ", in its header");
    }
    if (header.kind != JsonValue::Kind::object) fail("has a header that is no object");
    std::set<std::string> seen;
    for (const auto& [name, value] : header.members) {
      if (!seen.insert(name).second) fail_at(name, "is there twice; save it again");
      if (name == about) {
        read_metadata(value);
        continue;
      }
      try {
        read_place(name, value);
      } catch (const std::runtime_error& e) {
        fail_at(name, std::string("has no proper place: ") + e.what());
      }
    }
  }

  void read_metadata(const JsonValue& value) {
    for (const auto& [key, text] : value.members)
      if (text.kind == JsonValue::Kind::text) metadata_.emplace(key, text.text);
  }

  void read_place(const std::string& name, const JsonValue& value) {
    const std::string& type = json_text(value, "dtype");
    const auto known = std::ranges::find(element_types, type, &ElementType::name);
    if (known == element_types.end())
      throw std::runtime_error("elements of type " + shown(type) + ", not F32, F64, F16 or BF16");
    TensorShape tensor{.name = name, .shape = numbers(json_member(value, "shape"))};
    const std::vector<std::uint64_t> ends = numbers(json_member(value, "data_offsets"));
    if (ends.size() != 2 || ends[0] > ends[1] || ends[1] > data_bytes_)
      throw std::runtime_error("its data lie beyond the end of the file");
    std::uint64_t bytes = known->bytes;
    for (const std::uint64_t extent : tensor.shape) {
      if (bytes > 0 && extent > data_bytes_ / bytes)
        throw std::runtime_error("a shape that its data do not have");
      bytes *= extent;
    }
    if (bytes != ends[1] - ends[0]) throw std::runtime_error("a shape that its data do not have");
    places_.push_back({.begin = ends[0], .bytes = bytes, .type = *known});
    tensors_.push_back(std::move(tensor));
  }

  static std::vector<std::uint64_t> numbers(const JsonValue& list) {
    if (list.kind != JsonValue::Kind::array || list.items.size() > most_extents)
      throw std::runtime_error("a list of at most eight numbers is missing");
    std::vector<std::uint64_t> values;
    for (const JsonValue& item : list.items) {
      const auto number = number_of<std::uint64_t>(item.text);
      if (item.kind != JsonValue::Kind::number || !number)
        throw std::runtime_error("an extent that is no whole number");
      values.push_back(*number);
    }
    return values;
  }

  std::string path_;
  std::uint64_t data_ = 0, data_bytes_ = 0;
  std::vector<Place> places_;
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

std::vector<float> tensor_values(const std::string& path,
                                 const TensorFile& file,
                                 const Parameter& parameter) {
  const auto found = std::ranges::find(file.tensors(), parameter.name, &TensorShape::name);
  if (found == file.tensors().end())
    refuse(path, parameter.name,
           fmt::format("the model needs it, and the file has {}", list_of(file)));
  if (!same_shape(found->shape, parameter.shape))
    refuse(path, parameter.name,
           fmt::format("[{}] in the file and [{}] in the model; make both alike: `model`, `data` "
                       "and the number of classes decide the model's",
                       fmt::join(found->shape, ", "), fmt::join(parameter.shape, ", ")));
  return file.read(static_cast<std::size_t>(found - file.tensors().begin()));
}

std::vector<float> flat_values(const std::string& path,
                               const TensorFile& file,
                               const std::vector<Parameter>& parameters) {
  std::set<std::string> known;
  for (const Parameter& parameter : parameters) known.insert(parameter.name);
  for (const TensorShape& tensor : file.tensors())
    if (!known.contains(tensor.name) && !is_running(tensor.name))
      refuse(path, tensor.name, "the model has no such parameter; take it out of the file");
  std::vector<float> values;
  for (const Parameter& parameter : parameters) {
    const std::vector<float> tensor = tensor_values(path, file, parameter);
    values.insert(values.end(), tensor.begin(), tensor.end());
  }
  return values;
}

std::vector<float> start_values(const std::string& path, const std::vector<Parameter>& parameters) {
  return flat_values(path, *open_tensors(path), parameters);
}

void write_safetensors(const std::string& path,
                       const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  for (const NamedTensor& tensor : tensors)
    if (bytes_of(tensor) != tensor.values.size_bytes())
      throw std::logic_error(fmt::format("{}: tensor {} has {} bytes, its values {}", path,
                                         tensor.name, bytes_of(tensor),
                                         tensor.values.size_bytes()));
  const std::string header = header_of(tensors, metadata);
  if (header.size() > most_header_bytes)
    throw std::runtime_error(
        fmt::format("{}: a header of {} bytes, of which no reader would read "
                    "more than {}",
                    path, header.size(), most_header_bytes));
  const std::uint64_t length = header.size();
  const std::string temporary = path + ".tmp";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const NamedTensor& tensor : tensors)
    out.write(reinterpret_cast<const char*>(tensor.values.data()),
              static_cast<std::streamsize>(tensor.values.size_bytes()));
  errno = 0;
  out.close();
  if (out && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int error = errno;
  std::remove(temporary.c_str());  // a partial file may fill the disk
  throw std::runtime_error(
      fmt::format("{}: cannot be written{}", path, error == 0 ? "" : ": " + error_text(error)));
}

std::unique_ptr<TensorFile> open_safetensors(const std::string& path) {
  return std::make_unique<SafeTensors>(path);
}

}  // namespace gv
