#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "peer/tcp/tcp_world.h"

namespace gv::control {

// What a launcher and its peers say to each other: one JSON object a line, the peer's on its
// stdout, the launcher's on the peer's stdin. The end of stdin means: the launcher has gone.
//   peer:     listening {port}   ready   progress {step}   report {...}
//   launcher: addresses [{peer, host, port}]               stop

struct Listening {
  std::uint16_t port = 0;
};
struct Ready {};
struct Progress {
  Step step = 0;
};
/// A Report whose vector lies in a file of raw floats; who reads it deletes it.
struct Reported {
  Report report;
  std::string model_path;
};
using PeerSays = std::variant<std::monostate, Listening, Ready, Progress, Reported>;

struct Addresses {
  std::vector<PeerAddress> list;
};
struct Stop {};
using LauncherSays = std::variant<std::monostate, Addresses, Stop>;

std::string line(const Listening& says);
std::string line(const Ready& says);
std::string line(const Progress& says);
std::string line(const Reported& says);
std::string line(const Addresses& says);
std::string line(const Stop& says);

/// monostate: not a line of this protocol.
PeerSays parse_peer(const std::string& line);
LauncherSays parse_launcher(const std::string& line);

/// Raw floats, written to a temporary name and renamed. Throw std::runtime_error with the path.
void write_floats(const std::string& path, std::span<const float> values);
Payload read_floats(const std::string& path);

}  // namespace gv::control
