#include "peer/fleet/attackers_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "gossip/attack.h"
#include "peer/fleet/file/readers.h"

namespace gv {
namespace {

class AttackersReader : Readers {
 public:
  explicit AttackersReader(Source& source) : Readers(source) {}

  AttackersSpec read(const Value* value, PeerId trainers) {
    AttackersSpec spec;
    MapReader map(source_, value, "attackers");
    std::vector<std::string> kinds;
    for (const AttackRow& row : attacks()) kinds.emplace_back(row.kind);
    set(map.take("count"), spec.count, count("attackers.count"));
    set(map.take("kind"), spec.kind, choice(kinds));
    const std::vector<AttackRow> rows = attacks();
    spec.strength = std::ranges::find(rows, spec.kind, &AttackRow::kind)->strength;
    set(map.take("strength"), spec.strength, number("attackers.strength"));
    map.finish();
    if (value != nullptr && spec.count >= trainers)
      source_.error(*value,
                    fmt::format("{} attackers among {} peers leave no honest peer: take {} at most",
                                spec.count,
                                trainers,
                                trainers - 1));
    return spec;
  }
};

}  // namespace

AttackersSpec read_attackers(Source& source, const Value* value, PeerId trainers) {
  return AttackersReader(source).read(value, trainers);
}

}  // namespace gv
