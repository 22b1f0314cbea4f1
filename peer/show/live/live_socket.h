#pragma once

#include <string>

#include "peer/wire/socket/descriptor.h"

namespace gv {

inline constexpr const char* live_socket_name = "live.sock";

/// Listens at FOLDER/live.sock, which only its owner can open, and replaces a socket left by a
/// killed run. A path longer than a socket's address is reached through the folder's descriptor.
/// Throws std::runtime_error with path and reason, also if a run already listens there.
Descriptor listen_live(const std::string& folder);

/// Connects to the run of this folder. The descriptor is not open if no run listens there.
Descriptor connect_live(const std::string& folder);

/// Removes FOLDER/live.sock at its end.
class LiveSocketFile {
 public:
  explicit LiveSocketFile(std::string folder) : folder_(std::move(folder)) {}
  ~LiveSocketFile();
  LiveSocketFile(const LiveSocketFile&) = delete;
  LiveSocketFile& operator=(const LiveSocketFile&) = delete;

 private:
  std::string folder_;
};

}  // namespace gv
