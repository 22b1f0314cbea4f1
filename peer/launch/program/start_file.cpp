#include "peer/launch/program/start_file.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "peer/model/tensors/tensor_file.h"

namespace gv {
namespace {

constexpr const char* introduction_key = "program";

/// Returns the dimensions of a gapless tensor from the outermost in memory to the innermost,
/// without those of length 1; empty if in the order of the shape.
std::vector<std::uint32_t> order_of(const asked::Tensor& tensor) {
  std::vector<std::uint32_t> dims;
  for (std::uint32_t d = 0; d < tensor.shape.size(); ++d)
    if (tensor.shape[d] != 1) dims.push_back(d);
  std::ranges::stable_sort(dims,
                           [&](auto a, auto b) { return tensor.strides[a] > tensor.strides[b]; });
  if (std::ranges::is_sorted(dims)) dims.clear();
  return dims;
}

std::size_t floats_of(const Parameter& parameter) {
  std::size_t floats = 1;
  for (const std::uint32_t extent : parameter.shape) floats *= extent;
  return floats;
}

/// Reads each tensor in the order of its memory.
std::vector<float> values_in(const std::string& path,
                             const TensorFile& file,
                             const ProgramModel& model) {
  return in_order_of_memory(flat_values(path, file, model.parameters), model.parameters,
                            model.orders);
}

}  // namespace

ProgramModel model_of(const asked::Introduction& says, std::vector<float> x) {
  ProgramModel model{.start = std::move(x), .evaluates = says.evaluates};
  for (const asked::Tensor& tensor : says.parameters) {
    model.parameters.push_back({.name = tensor.name, .shape = tensor.shape});
    model.orders.push_back(order_of(tensor));
  }
  return model;
}

void write_start(const std::string& path,
                 const asked::Introduction& says,
                 std::span<const float> x) {
  const ProgramModel model = model_of(says, {});
  const std::vector<float> values = in_order_of_shapes(x, model.parameters, model.orders);
  std::vector<NamedTensor> tensors;
  std::size_t begin = 0;
  for (const Parameter& p : model.parameters) {
    const std::size_t floats = floats_of(p);
    tensors.push_back(
        {.name = p.name, .shape = p.shape, .values = std::span(values).subspan(begin, floats)});
    begin += floats;
  }
  write_safetensors(path, tensors, {{introduction_key, asked::line(says)}});
}

ProgramModel read_start(const std::string& path) {
  const std::unique_ptr<TensorFile> file = open_safetensors(path);
  const auto line = file->metadata().find(introduction_key);
  if (line == file->metadata().end())
    throw std::runtime_error(path +
                             ": it does not describe how a program holds these tensors; `run` "
                             "writes such a file, start.safetensors of its folder");
  const asked::ProgramSays says = asked::parse_program(line->second);
  const auto* const introduction = std::get_if<asked::Introduction>(&says);
  if (introduction == nullptr) throw std::runtime_error(path + ": it describes no program");
  ProgramModel model = model_of(*introduction, {});
  model.start = values_in(path, *file, model);
  return model;
}

std::vector<float> read_values(const std::string& path, const ProgramModel& model) {
  return values_in(path, *open_tensors(path), model);
}

}  // namespace gv
