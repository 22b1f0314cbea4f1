#include "peer/record/report/stored_json.h"

#include <algorithm>
#include <cmath>

#include "optim/printable.h"
#include "peer/fleet/json/json_member.h"

namespace gv {
namespace {

constexpr std::size_t longest_text = 200;
constexpr double largest_amount = 1e18;
constexpr double largest_number = 1e300;

}  // namespace

std::string stored_text(const JsonValue& object, const std::string& key) {
  std::string text = printable(json_text(object, key), longest_text);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

double stored_amount(const JsonValue& object, const std::string& key) {
  const double number = json_number(object, key);
  if (number < 0 || number > largest_amount) refuse_json(key, "in 0 .. 1e18");
  return number;
}

std::optional<double> stored_maybe(const JsonValue& object, const std::string& key) {
  const JsonValue* value = object.find(key);
  if (value == nullptr || value->kind == JsonValue::Kind::null) return std::nullopt;
  return stored_amount(object, key);
}

std::optional<double> stored_fraction(const JsonValue& object, const std::string& key) {
  const std::optional<double> number = stored_maybe(object, key);
  if (number && *number > 1) refuse_json(key, "in 0 .. 1");
  return number;
}

double stored_number(const JsonValue& object, const std::string& key) {
  const double number = json_number(object, key);
  if (std::abs(number) > largest_number) refuse_json(key, "within 1e300");
  return number;
}

}  // namespace gv
