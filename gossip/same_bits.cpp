#include "gossip/same_bits.h"

namespace gv {

bool has_same_bits(const AlgorithmRow& row, const Settings& settings) {
  const auto leaves_some_behind = [&](std::string_view option) {
    const auto given = settings.find(option);
    return given != settings.end() && given->second != 0;
  };
  return row.synchronous && !leaves_some_behind("backup") && !leaves_some_behind("quorum");
}

}  // namespace gv
