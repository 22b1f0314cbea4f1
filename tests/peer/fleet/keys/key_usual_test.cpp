#include <algorithm>
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
  if (row.key.find('.') == std::string::npos) return std::nullopt;
  std::smatch match;  // the last one: `kind` of what is within has another `kind` before it
  auto from = row.example.begin();
  for (std::smatch next; std::regex_search(from, row.example.end(), next, within);) {
    match = next;
    from = next[0].first + 1;
  }
  if (match.empty()) return std::nullopt;
  const std::string before(row.example.begin(), match[0].first), after = match.suffix();
  const std::string opens = match[1], closes = match[2].str().substr(match[2].length() - 1);
  const std::string rest = closes == "," ? opens : opens == "{" ? "{}" : " }";
  return Pair{.said = before + opens + " " + key + ": " + row.usual + " " + closes + after,
              .silent = before + rest + after};
}

/// `peers.device` is usually that of `train.device`.
bool is_other_key(const std::string& usual) {
  const std::vector<KeyRow>& rows = fleet_file_keys();
  return std::ranges::find(rows, usual, &KeyRow::key) != rows.end();
}

class KeyUsual : public KeyTable {
 protected:
  std::string digest(const std::string& line) const {
    return read_fleet(fleet_with(line), {}, nullptr).digest;
  }
};

/// Keys that the digest does not hold, or whose example is what is usual, show nothing and do not
/// count.
TEST_F(KeyUsual, IsTheFleetsOwn) {
  static const std::regex plain("[-+_.a-z0-9]+( (%|ms|s|min|rounds?|steps?|epochs?|evaluations))?");
  // What the reference says where a file says nothing, and what no file says.
  static const std::set<std::string> absences{"none", "never", "unlimited", "floats"};
  std::set<std::string> held;
  for (const KeyRow& row : fleet_file_keys()) {
    const std::optional<Pair> pair = pair_of(row);
    if (!pair || !std::regex_match(row.usual, plain) || is_other_key(row.usual)) continue;
    std::string silent;
    try {
      silent = digest(pair->silent);
    } catch (const FleetError&) {
      continue;  // what the example is about needs the key
    }
    try {
      EXPECT_EQ(digest(pair->said), silent) << row.key << ": " << pair->said;
      if (digest(row.example) != silent) held.insert(row.key);
    } catch (const FleetError& refused) {
      EXPECT_TRUE(absences.contains(row.usual))
          << row.key << " is usually " << row.usual << ": " << refused.what();
    }
  }
  EXPECT_GT(held.size(), 60U);
}

}  // namespace
}  // namespace gv
