#include "peer/model/tensors/start_values.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/data/field.h"

namespace gv {
namespace {

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

}  // namespace

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

}  // namespace gv
