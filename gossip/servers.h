#pragma once

#include <map>
#include <vector>

#include "gossip/peer.h"
#include "gossip/setup.h"

// Fleets in which some peers serve and the others train. Server s of k holds part s of the model.

namespace gv {

std::vector<PeerId> trainers(const Setup& setup);  ///< ascending
std::vector<PeerId> servers(const Setup& setup);
/// The option `servers`.
PeerId count_servers(const Settings& settings);
/// The coordinates of the model that a server holds: equal parts, the longer ones first.
Range shard(const Setup& setup, std::size_t d, PeerId server);
/// Servers have links to all that train, and these to all servers.
std::vector<PeerId> server_links(const Setup& setup, PeerId i);
/// Pulls wait until they are asked for by number.
std::vector<Channel> server_channels(const Setup& setup, std::size_t d, Keeps pushes);
std::vector<Channel> queue_channels(const Setup& setup, std::size_t d);  ///< with pushes in a queue
// Of those that train.
/// To each server its part of v.
Task<> push(Peer& me, Vector v);
/// A push of nothing: it asks for the model.
void ask(Peer& me);
/// The newest of what the servers answer to that: v, and their round. Nothing: one of them has
/// gone, and the fleet's model with it.
Task<std::optional<Round>> pull(Peer& me, Vector v);

// Of servers.
/// Whether a push waits, or one may still come.
bool more_pushes(const Peer& me);
/// Whether one of those that train has not left, and lives as far as anybody knows.
bool someone_trains(const Peer& me);
/// All of its vector.
Range whole(const Peer& me);
/// Whether what was pushed is finite; else it is said, and must count nowhere.
Task<bool> sound(Peer& me, Message push);
/// Answers a push with v.
Task<> answer(Peer& me, const Message& push, Vector v);
/// One push of each of `most` peers that train, by peer: of as many as there still are, and of
/// those that came within faults.deadline. A push of an earlier round than this one came too late:
/// it is answered with x, and does not count.
/// One that is not sound has lost its payload.
Task<std::map<PeerId, Message>> collect(Peer& me, std::size_t most);

}  // namespace gv
