#include "graph/spec/parameters.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <utility>

namespace gv {
namespace {

using Kind = GraphParameter::Kind;

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(what);
}

GraphParameterValue initial_value(const GraphParameter& row) {
  switch (row.kind) {
    case Kind::count:
    case Kind::seed:
      return static_cast<std::uint64_t>(row.initial);
    case Kind::number:
      return row.initial;
    case Kind::shape:
      return LatticeShape{};
    default:
      return std::string();
  }
}

/// Returns whether the value stands alone, without `name=`.
bool stands_alone(const GraphParameter& row) {
  return row.kind == Kind::shape || row.kind == Kind::path;
}

/// 1000000, not 1e+06.
std::string written(const GraphParameter& row, double value) {
  if (row.kind == Kind::number) return shortest(value);
  return std::to_string(static_cast<std::uint64_t>(value));
}

std::string range_of(const GraphParameter& row) {
  return written(row, row.least) + " .. " + written(row, row.most);
}

LatticeShape parse_shape(std::string_view family, std::string_view text) {
  const std::string name(family);
  const auto cross = text.find('x');
  if (cross == std::string_view::npos)
    refuse(name + ": write the shape as ROWSxCOLUMNS, such as 4x4, not `" + std::string(text) +
           "`");
  const LatticeShape shape{parse_number<std::uint32_t>(text.substr(0, cross), name),
                           parse_number<std::uint32_t>(text.substr(cross + 1), name)};
  if (shape.rows == 0 || shape.columns == 0) refuse(name + ": rows and columns must be 1 or more");
  return shape;
}

template <class Number>
Number parse_in_range(const GraphParameter& row, std::string_view text, const std::string& what) {
  const auto value = parse_number<Number>(text, what);
  const auto wide = static_cast<double>(value);
  if (!(wide >= row.least && wide <= row.most))
    refuse(what + " must lie in " + range_of(row) + ", not " + std::string(text));
  return value;
}

GraphParameterValue parse_value(const GraphParameter& row,
                                std::string_view text,
                                const std::string& what) {
  switch (row.kind) {
    case Kind::count:
      return parse_in_range<std::uint64_t>(row, text, what);
    case Kind::number:
      return parse_in_range<double>(row, text, what);
    case Kind::seed:
      return parse_number<std::uint64_t>(text, what);
    default:
      return std::string(text);
  }
}

/// `name=value,`: removes it from `rest` and puts it into `values`.
void take_parameter(std::string_view family, std::string_view& rest, GraphParameters& values) {
  const std::string_view key = rest.substr(0, rest.find_first_of("=,"));
  const auto row = std::ranges::find(values.rows(), key, &GraphParameter::name);
  if (row == values.rows().end())
    refuse(std::string(family) + " has no parameter `" + std::string(key) + "`");
  rest.remove_prefix(key.size());
  const bool value = rest.starts_with('=');
  if (value) rest.remove_prefix(1);
  const std::size_t end =
      row->kind == Kind::graph ? rest.size() : std::min(rest.find(','), rest.size());
  values.set(key, parse_value(*row, value ? rest.substr(0, end) : "",
                              std::string(family) + ": " + std::string(key)));
  rest.remove_prefix(std::min(end + 1, rest.size()));
}

std::string text_of(const GraphParameterValue& value) {
  struct Print {
    std::string operator()(std::uint64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return shortest(v); }
    std::string operator()(const LatticeShape& v) const {
      return v.open() ? "" : std::to_string(v.rows) + "x" + std::to_string(v.columns);
    }
    std::string operator()(const std::string& v) const { return v; }
  };
  return std::visit(Print{}, value);
}

}  // namespace

GraphParameters::GraphParameters(std::span<const GraphParameter> rows) : rows_(rows) {
  for (const GraphParameter& row : rows) values_.push_back(initial_value(row));
}

bool GraphParameters::has(std::string_view name) const {
  return std::ranges::find(rows_, name, &GraphParameter::name) != rows_.end();
}

std::size_t GraphParameters::index_of(std::string_view name) const {
  const auto row = std::ranges::find(rows_, name, &GraphParameter::name);
  if (row == rows_.end()) throw std::logic_error("no parameter " + std::string(name));
  return static_cast<std::size_t>(row - rows_.begin());
}

std::uint32_t GraphParameters::count(std::string_view name) const {
  return static_cast<std::uint32_t>(std::get<std::uint64_t>(values_[index_of(name)]));
}

double GraphParameters::number(std::string_view name) const {
  return std::get<double>(values_[index_of(name)]);
}

std::uint64_t GraphParameters::seed() const {
  return std::get<std::uint64_t>(values_[index_of("seed")]);
}

LatticeShape GraphParameters::shape() const {
  return std::get<LatticeShape>(values_[index_of("shape")]);
}

const std::string& GraphParameters::text(std::string_view name) const {
  return std::get<std::string>(values_[index_of(name)]);
}

std::string GraphParameters::value_text(std::string_view name) const {
  return text_of(values_[index_of(name)]);
}

void GraphParameters::set(std::string_view name, GraphParameterValue value) {
  GraphParameterValue& own = values_[index_of(name)];
  if (own.index() != value.index())
    throw std::logic_error("a value of another kind for " + std::string(name));
  own = std::move(value);
}

GraphParameters parse_parameters(std::string_view family,
                                 std::span<const GraphParameter> rows,
                                 std::string_view text) {
  GraphParameters values(rows);
  if (rows.size() == 1 && rows[0].kind == Kind::shape) {
    values.set("shape", parse_shape(family, text));
  } else if (rows.size() == 1 && rows[0].kind == Kind::path) {
    values.set(rows[0].name, std::string(text));
  } else {
    while (!text.empty()) take_parameter(family, text, values);
  }
  return values;
}

std::string to_string(const GraphParameters& parameters) {
  std::string out;
  for (const GraphParameter& row : parameters.rows()) {
    if (!out.empty()) out += ',';
    if (!stands_alone(row)) {
      out += row.name;
      out += '=';
    }
    out += parameters.value_text(row.name);
  }
  return out;
}

std::string to_string(std::string_view family, const GraphParameters& parameters) {
  std::string text(family);
  const bool open_shape = parameters.has("shape") && parameters.shape().open();
  if (parameters.rows().empty() || open_shape) return text;
  text += ':';
  return text + to_string(parameters);
}

std::string form_of(std::span<const GraphParameter> rows) {
  std::string out;
  for (const GraphParameter& row : rows) {
    if (!out.empty()) out += ',';
    if (row.kind == Kind::shape) {
      out += "RxC";
    } else if (row.kind == Kind::path) {
      out += "PATH";
    } else {
      out += row.name;
      out += '=';
      if (row.kind == Kind::graph)
        out += "TOPOLOGY";
      else
        out += static_cast<char>(std::toupper(static_cast<unsigned char>(row.name[0])));
    }
  }
  return out;
}

std::string help_of(const GraphParameter& row) {
  std::string text(row.name);
  text += ": ";
  text += row.help;
  if (row.kind == Kind::count) text += " (a whole number in " + range_of(row);
  if (row.kind == Kind::number) text += " (a number in " + range_of(row);
  if (row.kind == Kind::seed) text += " (a whole number";
  if (stands_alone(row) || row.kind == Kind::graph) return text;
  text += "; ";
  text += written(row, row.initial);
  return text + " when left out)";
}

}  // namespace gv
