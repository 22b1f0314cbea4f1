#include "peer/cli/embed/calls/program_tensors.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/cli/embed/calls/fault.h"
#include "peer/fleet/digest.h"

namespace gv::embed {
namespace {

constexpr std::size_t most_tensors = std::size_t{1} << 20;
constexpr std::uint32_t most_dims = 16;
constexpr std::size_t longest_name = 1000;
constexpr std::size_t most_floats = 50'000'000'000;
constexpr const char* own_copy =
    "\nhelp:  give the peer a tensor of its own, such as .contiguous()";

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw Fault(GV_E_TENSORS, fmt::format("{} {}", printable(name, 100), what));
}

std::string name_of(const gv_tensor& tensor, std::size_t place) {
  const std::string name = tensor.name == nullptr ? "" : tensor.name;
  if (name.empty() || name.size() > longest_name)
    refuse(fmt::format("tensor {}", place),
           fmt::format("has a name of {} bytes: 1 to {} are allowed", name.size(), longest_name));
  return name;
}

void check_type(const std::string& name, const gv_tensor& tensor) {
  const std::string_view type = tensor.type == nullptr ? "" : tensor.type;
  if (type == "float32") return;
  const bool half = type == "float16" || type == "bfloat16";
  refuse(name,
         fmt::format("is {}, and only float32 travels{}",
                     type.empty() ? "of no type" : printable(type, 40),
                     half ? ": a small flow would round away\nhelp:  keep the weights in float32 "
                            "and compute in fewer bits, as by torch.autocast"
                          : ""));
}

Parameter parameter_of(const std::string& name, const gv_tensor& tensor, std::size_t& floats) {
  if (tensor.dims > most_dims || (tensor.dims > 0 && tensor.shape == nullptr))
    refuse(name, fmt::format("has {} dimensions: 0 to {} are allowed", tensor.dims, most_dims));
  Parameter parameter{.name = name, .shape = {}};
  floats = 1;
  for (std::uint32_t d = 0; d < tensor.dims; ++d) {
    const std::int64_t length = tensor.shape[d];
    if (length < 0 || length > std::numeric_limits<std::uint32_t>::max())
      refuse(name, fmt::format("has a dimension of {}", length));
    parameter.shape.push_back(static_cast<std::uint32_t>(length));
    if (length > 0 && floats > most_floats / static_cast<std::size_t>(length))
      refuse(name, fmt::format("has more than {} elements", most_floats));
    floats *= static_cast<std::size_t>(length);
  }
  return parameter;
}

/// Returns the dimensions from the outermost in memory to the innermost, without those of length 1.
/// Throws if elements share memory or leave gaps.
std::vector<std::uint32_t> order_of(const std::string& name,
                                    const gv_tensor& tensor,
                                    std::size_t floats) {
  if (tensor.strides == nullptr || floats == 0) return {};
  std::vector<std::uint32_t> dims;
  for (std::uint32_t d = 0; d < tensor.dims; ++d)
    if (tensor.shape[d] != 1) dims.push_back(d);
  std::ranges::stable_sort(dims,
                           [&](auto a, auto b) { return tensor.strides[a] > tensor.strides[b]; });
  std::int64_t dense = 1;
  for (auto d = dims.rbegin(); d != dims.rend(); dense *= tensor.shape[*d], ++d) {
    if (tensor.strides[*d] == dense) continue;
    const bool shared = tensor.strides[*d] < dense;
    refuse(name,
           fmt::format("{} (shape [{}], strides [{}]){}",
                       shared ? "is expanded: several of its elements are one in memory"
                              : "has gaps between its elements",
                       fmt::join(tensor.shape, tensor.shape + tensor.dims, ", "),
                       fmt::join(tensor.strides, tensor.strides + tensor.dims, ", "), own_copy));
  }
  if (std::ranges::is_sorted(dims)) dims.clear();
  return dims;
}

std::span<float> memory_of(const std::string& name, void* data, std::size_t floats) {
  if (floats == 0) return {};
  if (data == nullptr) refuse(name, "has no memory");
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(float) != 0)
    refuse(name, "lies at an address that is no multiple of 4");
  return {static_cast<float*>(data), floats};
}

/// Throws if tensors share memory; `pieces[k]` belongs to the k-th tensor.
void refuse_shared(const std::vector<std::span<float>>& pieces, const ProgramModel& model) {
  std::vector<std::size_t> by_address(pieces.size());
  std::iota(by_address.begin(), by_address.end(), std::size_t{0});
  std::erase_if(by_address, [&](std::size_t k) { return pieces[k].empty(); });
  std::ranges::sort(by_address, std::less{}, [&](std::size_t k) { return pieces[k].data(); });
  for (std::size_t i = 1; i < by_address.size(); ++i) {
    const std::size_t a = by_address[i - 1];
    const std::size_t b = by_address[i];
    if (pieces[a].data() + pieces[a].size() <= pieces[b].data()) continue;
    refuse(model.parameters[std::max(a, b)].name,
           fmt::format("lies in the same memory as {}\nhelp:  give tensors that are tied once",
                       printable(model.parameters[std::min(a, b)].name, 100)));
  }
}

Segments segments_of(std::vector<std::span<float>> pieces, const ProgramModel& model) {
  refuse_shared(pieces, model);
  return Segments(std::move(pieces));
}

/// Walks over a tensor's elements in memory order and passes their index by the shape to `take`.
template <class Take>
void walk(const Parameter& parameter, const std::vector<std::uint32_t>& order, Take take) {
  std::vector<std::size_t> strides(parameter.shape.size(), 1);  // in the order of the shape
  for (std::size_t d = parameter.shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * parameter.shape[d];
  std::vector<std::uint32_t> at(order.size(), 0);
  std::size_t place = 0;
  for (;;) {
    take(place);
    std::size_t k = order.size();
    while (k-- > 0) {
      const std::uint32_t d = order[k];
      place += strides[d];
      if (++at[k] < parameter.shape[d]) break;
      place -= strides[d] * parameter.shape[d];
      at[k] = 0;
    }
    if (k == std::numeric_limits<std::size_t>::max()) return;
  }
}

template <class Take>
void for_each_piece(const ProgramTensors& tensors, Take take) {
  for (std::size_t begin = 0; begin < tensors.x.size();) {
    const std::span<float> piece = tensors.x.from(begin);
    take(piece);
    begin += piece.size();
  }
}

}  // namespace

ProgramTensors read_tensors(std::span<const gv_tensor> tensors) {
  if (tensors.empty() || tensors.size() > most_tensors)
    throw Fault(GV_E_TENSORS,
                fmt::format("{} tensors: 1 to {} are allowed", tensors.size(), most_tensors));
  ProgramTensors all;
  std::set<std::string, std::less<>> names;
  std::vector<std::span<float>> pieces;
  std::size_t total = 0;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const gv_tensor& tensor = tensors[k];
    const std::string name = name_of(tensor, k);
    if (!names.insert(name).second) refuse(name, "is there twice");
    check_type(name, tensor);
    std::size_t floats = 0;
    all.model.parameters.push_back(parameter_of(name, tensor, floats));
    all.model.orders.push_back(order_of(name, tensor, floats));
    pieces.push_back(memory_of(name, tensor.data, floats));
    all.sizes.push_back(floats);
    total += floats;
  }
  if (total == 0 || total > most_floats)
    throw Fault(GV_E_TENSORS, fmt::format("the tensors have {} elements: 1 to {} are allowed",
                                          total, most_floats));
  all.x = segments_of(std::move(pieces), all.model);
  return all;
}

Segments segments_at(std::span<void* const> data, const ProgramTensors& like) {
  if (data.size() != like.sizes.size())
    throw Fault(GV_E_DISAGREES,
                fmt::format("{} tensors, and the peer has {}", data.size(), like.sizes.size()));
  std::vector<std::span<float>> pieces;
  pieces.reserve(data.size());
  for (std::size_t k = 0; k < data.size(); ++k)
    pieces.push_back(memory_of(like.model.parameters[k].name, data[k], like.sizes[k]));
  return segments_of(std::move(pieces), like.model);
}

std::string digest_of(const ProgramTensors& tensors) {
  std::string all;
  for_each_piece(tensors, [&](std::span<float> piece) {
    all += gv::digest_of(std::span<const float>(piece));
  });
  return digest_of_text(all);
}

std::vector<float> values_of(const ProgramTensors& tensors) {
  std::vector<float> all;
  all.reserve(tensors.x.size());
  for_each_piece(
      tensors, [&](std::span<float> piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  return all;
}

void load_as_it_lies(std::span<const float> values, const ProgramTensors& tensors) {
  for_each_piece(tensors, [&](std::span<float> piece) {
    std::ranges::copy(values.first(piece.size()), piece.begin());
    values = values.subspan(piece.size());
  });
}

void load_values(std::span<const float> values, const ProgramTensors& tensors) {
  std::size_t begin = 0;
  for (std::size_t k = 0; k < tensors.sizes.size(); begin += tensors.sizes[k++]) {
    if (tensors.sizes[k] == 0) continue;
    float* to = tensors.x.from(begin).data();
    const std::span<const float> own = values.subspan(begin, tensors.sizes[k]);
    if (tensors.model.orders[k].empty()) {
      std::ranges::copy(own, to);
      continue;
    }
    walk(tensors.model.parameters[k], tensors.model.orders[k],
         [&](std::size_t place) { *to++ = own[place]; });
  }
}

}  // namespace gv::embed
