#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace gv {

/// Returns f of each element, in their order. `f` is a function or a member.
template <class Elements, class F>
auto mapped(const Elements& elements, F f) {
  using Result = std::invoke_result_t<F&, decltype(*std::begin(elements))>;
  std::vector<std::remove_cvref_t<Result>> all;
  for (const auto& element : elements) all.push_back(std::invoke(f, element));
  return all;
}

}  // namespace gv
