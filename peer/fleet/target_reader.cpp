#include "peer/fleet/target_reader.h"

#include <fmt/format.h>

#include "peer/fleet/file/readers.h"

namespace gv {
namespace {

using Figure = TargetSpec::Figure;
using Whose = TargetSpec::Whose;

constexpr double largest_loss = 1e300;

/// Reads whose it is: of local models the mean loss and the least accuracy alone are recorded.
std::optional<Whose> read_whose(Source& source, const Value& value, Figure figure) {
  const auto word = read_choice(source, value, {"mean", "local", "worst"});
  if (!word) return std::nullopt;
  if (*word == "mean") return Whose::mean;
  const bool accuracy = figure == Figure::accuracy;
  if ((*word == "worst") == accuracy) return accuracy ? Whose::worst : Whose::local;
  source.error(value,
               accuracy ? "`of: local` is about a loss" : "`of: worst` is about an accuracy",
               accuracy ? "take `of: worst`, the least accurate local model, or `of: mean`"
                        : "take `of: local`, the mean loss of the local models, or `of: mean`");
  return std::nullopt;
}

}  // namespace

std::optional<TargetSpec> read_target(Source& source, const Value& value, const std::string& path) {
  const std::size_t problems = source.diagnostics().size();
  MapReader map(source, &value, path);
  const Value* accuracy = map.take("accuracy");
  const Value* loss = map.take("loss");
  const Value* returned = map.take("return");
  const Value* of = map.take("of");
  const Value* times = map.take("for");
  map.finish();
  if (source.diagnostics().size() > problems) return std::nullopt;
  if ((accuracy != nullptr) + (loss != nullptr) + (returned != nullptr) != 1) {
    source.error(value,
                 "expected one target",
                 "such as `{ accuracy: 0.88 }` or `{ loss: 0.4 }`, of an agent `{ return: 475 }`");
    return std::nullopt;
  }
  TargetSpec target;
  target.figure = accuracy != nullptr ? Figure::accuracy : Figure::loss;
  target.as_return = returned != nullptr;
  const auto figure =
      accuracy != nullptr
          ? read_fraction(source, *accuracy)
          : read_number(source, loss != nullptr ? *loss : *returned, -largest_loss, largest_loss);
  if (figure) target.value = target.as_return ? -*figure : *figure;
  if (of != nullptr)
    if (const auto whose = read_whose(source, *of, target.figure)) target.whose = *whose;
  if (times != nullptr)
    if (const auto n = read_count(source, *times, "stop.target.for"))
      target.in_a_row = static_cast<std::uint32_t>(*n);
  if (source.diagnostics().size() > problems) return std::nullopt;
  return target;
}

}  // namespace gv
