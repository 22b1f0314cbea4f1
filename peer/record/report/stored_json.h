#pragma once

#include <optional>
#include <string>

#include "graph/formats/json_value.h"

namespace gv {

// What a run's documents say under a key, within bounds. Each throws std::runtime_error naming it.

/// Printable, on one line, at most 200 bytes.
std::string stored_text(const JsonValue& object, const std::string& key);
/// Reads a number that is not negative and below 1e18; NaN for null.
double stored_amount(const JsonValue& object, const std::string& key);
/// Does the same; nothing where there is no such key, or null.
std::optional<double> stored_maybe(const JsonValue& object, const std::string& key);
/// Reads a fraction in 0 .. 1; nothing where there is no such key, or null.
std::optional<double> stored_fraction(const JsonValue& object, const std::string& key);
/// A number of either sign below 1e300; NaN for null, as which what is not finite was written.
double stored_number(const JsonValue& object, const std::string& key);

}  // namespace gv
