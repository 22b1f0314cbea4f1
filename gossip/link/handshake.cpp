#include "gossip/link/handshake.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gossip/link/printable.h"

namespace gv {
namespace {

std::string short_digest(const std::string& digest) {
  return printable(digest.substr(0, 12));
}

bool is_loopback(const std::string& host) {
  return host.starts_with("127.") || host == "::1";
}

}  // namespace

std::string disagreement(const Hello& ours, const Hello& theirs) {
  if (theirs.peers != ours.peers)
    return fmt::format("a fleet of {} peers, ours has {}", theirs.peers, ours.peers);
  if (theirs.model != ours.model)
    return fmt::format(
        "another model shape ({}, ours {})", short_digest(theirs.model), short_digest(ours.model));
  if (theirs.fleet != ours.fleet)
    return fmt::format(
        "another fleet ({}, ours {}): both need the same fleet file, --set values, and graph and "
        "weight files",
        short_digest(theirs.fleet),
        short_digest(ours.fleet));
  return theirs.incarnation == 0 ? "a Hello without an incarnation" : "";
}

std::optional<ConnectionId> Strangers::admit(Stranger stranger, bool crowded) {
  std::optional<ConnectionId> evicted;
  if (!is_loopback(stranger.host) && held_by(stranger.host) >= of_one_) {
    evicted = evict_oldest(stranger.host);
  } else if (waiting_.size() >= places_ || (crowded && !waiting_.empty())) {
    evicted = evict_oldest(greediest());
  }
  waiting_.push_back(std::move(stranger));
  return evicted;
}

Stranger* Strangers::find(ConnectionId connection) {
  const auto at = std::ranges::find(waiting_, connection, &Stranger::connection);
  return at == waiting_.end() ? nullptr : &*at;
}

bool Strangers::remove(ConnectionId connection) {
  return std::erase_if(waiting_, [&](const Stranger& s) { return s.connection == connection; }) > 0;
}

std::vector<Stranger> Strangers::overdue(Time now) {
  std::vector<Stranger> all;
  for (const Stranger& stranger : waiting_)
    if (stranger.deadline <= now) all.push_back(stranger);
  for (const Stranger& stranger : all) remove(stranger.connection);
  return all;
}

std::optional<Time> Strangers::next_deadline() const {
  if (waiting_.empty()) return {};
  return std::ranges::min(waiting_, {}, &Stranger::deadline).deadline;
}

std::size_t Strangers::held_by(const std::string& host) const {
  return static_cast<std::size_t>(std::ranges::count(waiting_, host, &Stranger::host));
}

const std::string& Strangers::greediest() const {
  return std::ranges::max_element(
             waiting_, {}, [this](const Stranger& s) { return held_by(s.host); })
      ->host;
}

ConnectionId Strangers::evict_oldest(const std::string& host) {
  const auto at = std::ranges::find(waiting_, host, &Stranger::host);
  const ConnectionId connection = at->connection;
  waiting_.erase(at);
  return connection;
}

}  // namespace gv
