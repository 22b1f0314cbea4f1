#include "peer/record/report/attackers.h"

#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gossip/attack.h"
#include "peer/record/report/wrapped.h"

namespace gv {
namespace {

std::vector<PeerId> ids(const Setup& setup) {
  std::vector<PeerId> ids(setup.attackers);
  std::iota(ids.begin(), ids.end(), setup.peers - setup.attackers);
  return ids;
}

}  // namespace

std::string attackers_text(const Setup& setup) {
  constexpr std::size_t indent = 11, most_ids = 8;
  if (setup.attackers == 0) return "";
  const std::vector<PeerId> liars = ids(setup);
  std::string who = fmt::format("peers {} to {}", liars.front(), liars.back());
  if (liars.size() <= most_ids)
    who = fmt::format("{} {}", liars.size() == 1 ? "peer" : "peers", fmt::join(liars, ", "));
  const AttackRow row = attack_of(setup);
  return wrapped(fmt::format("attackers  {}, by `{}` of strength {:g}: {}",
                             who,
                             row.kind,
                             setup.attack.strength,
                             row.summary),
                 indent);
}

void add_attackers(Json& summary, const Setup& setup) {
  if (setup.attackers == 0) return;
  summary["attackers"] = Json{
      {"peers", ids(setup)}, {"kind", attack_of(setup).kind}, {"strength", setup.attack.strength}};
}

}  // namespace gv
