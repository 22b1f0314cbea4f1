#pragma once

#include <string>

#include "peer/wire/lend/descriptor.h"

namespace gv {

inline constexpr const char* live_socket_name = "live.sock";

/// Listens at FOLDER/live.sock, which only its owner can open; a socket that a killed run has left
/// there is replaced. A path that is longer than a socket's address may be is reached through the
/// folder's descriptor. Throws std::runtime_error with the path and the reason, also where somebody
/// listens there already.
Descriptor listen_live(const std::string& folder);

/// Connected with the run of this folder; not open: nobody listens there (any more).
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
