#include "peer/fleet/faults_reader.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "peer/fleet/file/readers.h"

namespace gv {
namespace {

using Kind = Injection::Kind;
constexpr std::array<std::pair<std::string_view, Kind>, 4> verbs{
    {{"kill", Kind::kill}, {"start", Kind::start}, {"stop", Kind::stop}, {"cut", Kind::cut}}};
constexpr const char* inject_help =
    "such as `inject: [{ at: 60 s, kill: 3 }, { at: 90 s, start: 3 }, "
    "{ at: 30 s, stop: 2, for: 5 s }, { at: 30 s, cut: [1, 2], for: 10 s }]`";

class FaultsReader : Readers {
 public:
  FaultsReader(Source& source, PeerId peers) : Readers(source), peers_(peers) {}

  FaultSpec read(const Value* value) {
    MapReader map(source_, value, "faults");
    FaultSpec faults;
    const Value* heartbeat = map.take("heartbeat");
    const Value* dead_after = map.take("dead_after");
    set(heartbeat, faults.heartbeat, duration());
    set(dead_after, faults.dead_after, duration());
    set(map.take("deadline"), faults.deadline, duration());
    set(map.take("stuck_after"), faults.stuck_after, duration());
    set(map.take("ledger"), faults.ledger, flag());
    set(map.take("min_peers"), faults.min_peers, count(1, std::max<PeerId>(1, peers_)));
    if (const Value* inject = map.take("inject", "none")) faults.inject = read_injections(*inject);
    map.finish();
    const Value* wrong = heartbeat != nullptr ? heartbeat : dead_after;
    if (wrong != nullptr &&
        (faults.heartbeat <= Time{0} || faults.dead_after < 2 * faults.heartbeat)) {
      source_.error(*wrong,
                    "dead_after must be at least two heartbeats, and a heartbeat takes time",
                    "the defaults are `heartbeat: 0.5 s` and `dead_after: 5 s`");
    }
    return faults;
  }

 private:
  std::vector<Injection> read_injections(const Value& list) {
    std::vector<Injection> all;
    if (list.kind != Value::Kind::sequence) {
      source_.error(list, "expected a list of faults", inject_help);
      return all;
    }
    for (const Value& item : list.items) all.push_back(read_injection(item));
    std::ranges::stable_sort(all, {}, &Injection::at);
    return all;
  }

  Injection read_injection(const Value& item) {
    MapReader map(source_, &item, "faults.inject");
    Injection injection;
    const Value* at = map.take("at");
    if (at == nullptr) source_.error(item, "missing key `at`", inject_help);
    set(at, injection.at, duration());
    int named = 0;
    for (const auto& [verb, kind] : verbs) {
      const Value* whom = map.take(std::string(verb));
      if (whom == nullptr) continue;
      ++named;
      injection.kind = kind;
      kind == Kind::cut ? read_pair(*whom, injection) : set(whom, injection.peer, peer());
    }
    if (named != 1) source_.error(item, "expected one of kill, start, stop and cut", inject_help);
    read_length(item, map.take("for"), injection);
    map.finish();
    return injection;
  }

  void read_length(const Value& item, const Value* length, Injection& injection) {
    const bool lasts = injection.kind == Kind::stop || injection.kind == Kind::cut;
    set(length, injection.length, duration());
    if (lasts && length == nullptr)
      source_.error(item, "missing key `for`: how long it lasts", inject_help);
    if (!lasts && length != nullptr)
      source_.error(*length, "only `stop` and `cut` last for a time", inject_help);
  }

  void read_pair(const Value& pair, Injection& injection) {
    if (pair.kind != Value::Kind::sequence || pair.items.size() != 2)
      return source_.error(pair, "expected two peers, such as `cut: [1, 2]`");
    set(&pair.items[0], injection.peer, peer());
    set(&pair.items[1], injection.other, peer());
    if (injection.peer == injection.other)
      source_.error(pair, fmt::format("peer {} has no link with itself", injection.peer));
  }

  std::function<std::optional<std::uint64_t>(const Value&)> peer() {
    return count(0, peers_ > 0 ? peers_ - 1 : 0);
  }

  PeerId peers_;
};

}  // namespace

FaultSpec read_faults(Source& source, const Value* value, PeerId peers) {
  return FaultsReader(source, peers).read(value);
}

}  // namespace gv
