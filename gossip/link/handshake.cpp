#include "gossip/link/handshake.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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
    return fmt::format("another model shape ({}, ours {})", short_digest(theirs.model),
                       short_digest(ours.model));
  if (theirs.fleet != ours.fleet)
    return fmt::format(
        "another fleet ({}, ours {}): both need the same fleet file, --set values, and graph and "
        "weight files",
        short_digest(theirs.fleet), short_digest(ours.fleet));
  return theirs.incarnation == 0 ? "a Hello without an incarnation" : "";
}

std::optional<ConnectionId> PendingConnections::admit(PendingConnection pending, bool crowded) {
  std::optional<ConnectionId> evicted;
  if (!is_loopback(pending.host) && held_by(pending.origin) >= of_one_) {
    evicted = evict_oldest(pending.origin);
  } else if (waiting_.size() >= places_ || (!pending.known && strangers() >= places_ / 2) ||
             (crowded && !waiting_.empty())) {
    evicted = evict_oldest(std::string(greediest().origin));
  }
  waiting_.push_back(std::move(pending));
  return evicted;
}

PendingConnection* PendingConnections::find(ConnectionId connection) {
  const auto at = std::ranges::find(waiting_, connection, &PendingConnection::connection);
  return at == waiting_.end() ? nullptr : &*at;
}

bool PendingConnections::remove(ConnectionId connection) {
  return std::erase_if(waiting_,
                       [&](const PendingConnection& s) { return s.connection == connection; }) > 0;
}

std::vector<PendingConnection> PendingConnections::overdue(Time now) {
  std::vector<PendingConnection> all;
  for (const PendingConnection& pending : waiting_)
    if (pending.deadline <= now) all.push_back(pending);
  for (const PendingConnection& pending : all) remove(pending.connection);
  return all;
}

std::optional<Time> PendingConnections::next_deadline() const {
  if (waiting_.empty()) return {};
  return std::ranges::min(waiting_, {}, &PendingConnection::deadline).deadline;
}

std::size_t PendingConnections::held_by(const std::string& origin) const {
  return static_cast<std::size_t>(std::ranges::count(waiting_, origin, &PendingConnection::origin));
}

std::size_t PendingConnections::strangers() const {
  return static_cast<std::size_t>(std::ranges::count(waiting_, false, &PendingConnection::known));
}

const PendingConnection& PendingConnections::greediest() const {
  return *std::ranges::max_element(waiting_, {}, [this](const PendingConnection& s) {
    return std::pair(!s.known, held_by(s.origin));
  });
}

ConnectionId PendingConnections::evict_oldest(const std::string& origin) {
  const auto at = std::ranges::find(waiting_, origin, &PendingConnection::origin);
  const ConnectionId connection = at->connection;
  waiting_.erase(at);
  return connection;
}

}  // namespace gv
