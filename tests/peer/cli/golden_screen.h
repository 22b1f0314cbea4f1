#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gv {

/// The part of a screen that is the same on every machine.
enum class Compared : std::uint8_t {
  all,        ///< every character: of commands whose answers are computed
  untimed,    ///< all but times, shares of times and what depends on them: of real runs
  unmeasured  ///< the words alone: of measurements
};

/// Commands whose screens are kept as text in tests/peer/cli/screens/NAME.txt.
struct GoldenScreen {
  std::string name;
  Compared compared = Compared::all;
  /// Commands as users type them; one that begins with "@" prepares the others and is not shown.
  std::vector<std::string> commands;
};

/// The table.
const std::vector<GoldenScreen>& golden_screens();

/// A screen as its file has it.
std::string compared_text(const std::string& text, Compared compared);

}  // namespace gv
