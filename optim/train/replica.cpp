#include "optim/train/replica.h"

#include <algorithm>
#include <limits>

// Grammar of named vectors and scalars, at the end of a training state (state.h):
//   named  := | "named" count:u64 (name vector)* count:u64 (name double)*
//   name   := name-as-in-state.h neighbour:u64           0 without one; else its id + 1

namespace gv {
namespace {

constexpr std::uint32_t first_index = 2;  // after x and g

}  // namespace

Vector NamedState::vector(std::string_view name, std::optional<std::uint32_t> neighbor) {
  const auto next = static_cast<std::uint32_t>(first_index + vectors_.size());
  return {vectors_.try_emplace({std::string(name), neighbor}, next).first->second};
}

double& NamedState::scalar(std::string_view name, std::optional<std::uint32_t> neighbor) {
  return scalars_[{std::string(name), neighbor}];
}

void NamedState::save_name(StateWriter& out, const Name& name) {
  out.name(name.first);
  out.u64(name.second ? std::uint64_t{*name.second} + 1 : 0);
}

NamedState::Name NamedState::restore_name(StateReader& in) {
  Name name{in.text(), {}};
  const std::uint64_t neighbor = in.u64();
  if (neighbor > std::uint64_t{std::numeric_limits<std::uint32_t>::max()} + 1)
    throw std::runtime_error("training state: a vector of neighbour " + std::to_string(neighbor) +
                             ", which is no peer's id");
  if (neighbor > 0) name.second = static_cast<std::uint32_t>(neighbor - 1);
  return name;
}

void NamedState::save(StateWriter& out, const Replica& replica) const {
  if (vectors_.empty() && scalars_.empty()) return;
  out.name("named");
  out.u64(vectors_.size());
  Buffer copy(replica.size() * sizeof(float));
  for (const auto& [name, index] : vectors_) {
    save_name(out, name);
    replica.snapshot({index}, {0, replica.size()}, copy);
    out.values(copy.floats());
  }
  out.u64(scalars_.size());
  for (const auto& [name, value] : scalars_) {
    save_name(out, name);
    out.real(value);
  }
}

void NamedState::restore(StateReader& in, Replica& replica) {
  for (const auto& [name, index] : vectors_) replica.scale({index}, 0);
  for (auto& [name, value] : scalars_) value = 0;
  if (in.at_end()) return;
  in.name("named");
  const std::uint64_t vectors = in.u64();
  Buffer copy(replica.size() * sizeof(float));
  for (std::uint64_t k = 0; k < vectors; ++k) {
    const Name name = restore_name(in);
    in.values(copy.floats());
    replica.load(replica.vector(name.first, name.second), {0, replica.size()}, copy);
  }
  const std::uint64_t scalars = in.u64();
  for (std::uint64_t k = 0; k < scalars; ++k) {
    const Name name = restore_name(in);
    scalars_[name] = in.real();
  }
}

}  // namespace gv
