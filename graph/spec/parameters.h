#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gv {

/// One parameter of a family of graphs or of schedules: all that it takes to read it from a command
/// or a fleet file, to check it, to print it and to explain it.
struct GraphParameter {
  enum class Kind {
    count,   ///< a whole number in [least, most]
    number,  ///< a real number in [least, most]
    seed,    ///< any whole number of 64 bits
    shape,   ///< ROWSxCOLUMNS, without `name=`: the only parameter of its family
    path,    ///< a file, without `name=`: the only parameter of its family
    graph    ///< a topology with parameters of its own, which may hold commas: so it comes last
  };
  std::string_view name;  ///< "degree": in `random-regular:degree=3` and as a key of a fleet file
  Kind kind = Kind::count;
  double initial = 0;  ///< the value when none is given
  double least = 0;
  double most = 0;
  std::string_view help;  ///< one line: what the value means
};

inline constexpr double most_count = 1'000'000;

constexpr GraphParameter count_parameter(std::string_view name,
                                         double initial,
                                         double least,
                                         std::string_view help) {
  return {name, GraphParameter::Kind::count, initial, least, most_count, help};
}
/// A share or a probability: a number in [0, 1].
constexpr GraphParameter share_parameter(std::string_view name,
                                         double initial,
                                         std::string_view help) {
  return {name, GraphParameter::Kind::number, initial, 0, 1, help};
}
inline constexpr GraphParameter seed_parameter{
    "seed", GraphParameter::Kind::seed, 1, 0, 0, "random seed; the same seed gives the same graph"};

/// Rows and columns; both 0 when they are left open.
struct LatticeShape {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  bool open() const { return rows == 0; }
  bool operator==(const LatticeShape&) const = default;
};

/// A count or a seed, a number, a shape, a path or a graph.
using GraphParameterValue = std::variant<std::uint64_t, double, LatticeShape, std::string>;

/// One value for each parameter of a family. Asking for a name that the family does not have, or
/// for a value of another kind, is a programming error: std::logic_error.
class GraphParameters {
 public:
  /// All default values. The rows must outlive this: families are constants.
  explicit GraphParameters(std::span<const GraphParameter> rows);
  GraphParameters() = default;  ///< for a family without parameters

  std::span<const GraphParameter> rows() const { return rows_; }
  bool has(std::string_view name) const;

  std::uint32_t count(std::string_view name) const;
  double number(std::string_view name) const;
  std::uint64_t seed() const;
  LatticeShape shape() const;
  const std::string& text(std::string_view name) const;  ///< a path or a graph
  std::string value_text(std::string_view name) const;   ///< any kind, as it is written

  /// The caller must check the row's range.
  void set(std::string_view name, GraphParameterValue value);
  bool operator==(const GraphParameters& other) const { return values_ == other.values_; }

 private:
  std::size_t index_of(std::string_view name) const;

  std::span<const GraphParameter> rows_;
  std::vector<GraphParameterValue> values_;
};

/// Reads the text after the colon: "degree=3,seed=1", "4x4", "path/to.edges". Messages name
/// `family`. Throws std::invalid_argument with the mistake and the allowed range.
GraphParameters parse_parameters(std::string_view family,
                                 std::span<const GraphParameter> rows,
                                 std::string_view text);

/// The inverse: every parameter, with its value; an open shape and no parameters give "".
std::string to_string(const GraphParameters& parameters);

/// "random-regular:degree=3,seed=1", from the name and the values.
std::string to_string(std::string_view family, const GraphParameters& parameters);

/// Returns how the parameters are written: "degree=D,seed=S", "RxC", "PATH".
std::string form_of(std::span<const GraphParameter> rows);

/// "degree: the neighbours of each peer (a whole number in 1 .. 1000000; 3 when left out)".
std::string help_of(const GraphParameter& row);

/// The whole of `text` as a number; nothing if it is none, or out of the type's range.
template <class Number>
std::optional<Number> as_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Like as_number, but throws std::invalid_argument "what: `text` is not a number".
template <class Number>
Number parse_number(std::string_view text, const std::string& what) {
  if (const auto value = as_number<Number>(text)) return *value;
  throw std::invalid_argument(what + ": `" + std::string(text) + "` is not a number");
}

/// The fewest digits that read back as the same number.
inline std::string shortest(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

}  // namespace gv
