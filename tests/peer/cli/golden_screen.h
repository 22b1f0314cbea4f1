#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gv {

/// The part of a screen that must be the same on every machine.
enum class Compared : std::uint8_t {
  all,        ///< every character, if the output is computed
  untimed,    ///< all but times, shares of times and values that depend on them, for real runs
  unmeasured  ///< only the words, for measurements
};

/// Commands whose screens are kept as text in tests/peer/cli/screens/NAME.txt.
struct GoldenScreen {
  std::string name;
  Compared compared = Compared::all;
  /// Commands as users type them. One that begins with "@" prepares the others and is not shown.
  std::vector<std::string> commands;
};

/// Returns the table of all screens.
const std::vector<GoldenScreen>& golden_screens();

/// Returns the compared part of a screen, as its file has it.
std::string compared_text(const std::string& text, Compared compared);

}  // namespace gv
