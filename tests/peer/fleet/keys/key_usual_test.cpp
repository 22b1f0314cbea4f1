#include <regex>
#include <set>
#include <string>

#include "peer/fleet/fleet.h"
#include "peer/fleet/reference/key_table.h"
#include "tests/peer/fleet/keys/key_fixture.h"

// `explain` and docs/fleet-file.md name what is usual, and the fleet has it as the initial value of
// a member: a file that says what is usual is the same fleet as one that says nothing.

namespace gv {
namespace {

/// The example of a row with another value of its key, and without the key.
struct Pair {
  std::string said, silent;
};

/// Returns nothing where the key's value in the example is no single word or number, or where the
/// key is not one of several in a map.
std::optional<Pair> pair_of(const KeyRow& row) {
  const std::string key = row.key.substr(row.key.rfind('.') + 1);
  const std::regex within("([{,]) " + key + ": [^,{}\\[\\]\\n]*?( ?[,}])");
  std::smatch match;
  const std::string& example = row.example;
  if (row.key.find('.') == std::string::npos || !std::regex_search(example, match, within))
    return std::nullopt;
  const std::string before = match.prefix(), after = match.suffix();
  const std::string opens = match[1], closes = match[2].str().substr(match[2].length() - 1);
  const std::string rest = closes == "," ? opens : opens == "{" ? "{}" : " }";
  return Pair{.said = before + opens + " " + key + ": " + row.usual + " " + closes + after,
              .silent = before + rest + after};
}

class KeyUsual : public KeyTable {
 protected:
  std::string digest(const std::string& line) const {
    return read_fleet(fleet_with(line), {}, nullptr).digest;
  }
};

TEST_F(KeyUsual, IsTheFleetsOwn) {
  static const std::regex plain("[-+_.a-z0-9]+( (%|ms|s|min|rounds?|epochs?|evaluations))?");
  std::set<std::string> held;
  for (const KeyRow& row : fleet_file_keys()) {
    const std::optional<Pair> pair = pair_of(row);
    if (!pair || !std::regex_match(row.usual, plain) || row.usual == "none") continue;
    try {
      const std::string silent = digest(pair->silent);
      EXPECT_EQ(digest(pair->said), silent) << row.key << ": " << pair->said;
      held.insert(row.key);
    } catch (const FleetError& without) {
      continue;  // what the example is about needs the key
    }
  }
  EXPECT_GT(held.size(), 95U);
}

}  // namespace
}  // namespace gv
