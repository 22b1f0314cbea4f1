#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

namespace gv {

/// An address at which a process listens for TCP connections.
struct Listening {
  std::string address;  ///< "127.0.0.1"; an IPv6 address is as the kernel writes it
  std::uint16_t port = 0;
};

/// Returns the inodes of the sockets that a process has open. Needs permission to look.
inline std::set<std::string> socket_inodes(pid_t pid) {
  std::set<std::string> inodes;
  for (const auto& each : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid))) {
    std::error_code closed;
    const std::string at = std::filesystem::read_symlink(each.path(), closed).string();
    if (at.starts_with("socket:[")) inodes.insert(at.substr(8, at.size() - 9));
  }
  return inodes;
}

/// Returns the listening sockets of a process, from /proc/PID/net/tcp and tcp6 (proc(5)).
inline std::vector<Listening> listening_of(pid_t pid) {
  const std::set<std::string> own = socket_inodes(pid);
  std::vector<Listening> all;
  for (const char* table : {"tcp", "tcp6"}) {
    std::ifstream in(fmt::format("/proc/{}/net/{}", pid, table));
    std::string line;
    for (std::getline(in, line); std::getline(in, line);) {
      std::istringstream words(line);
      std::string number, local, remote, state, skipped, inode;
      words >> number >> local >> remote >> state;
      for (int k = 0; k < 5; ++k) words >> skipped;
      words >> inode;
      constexpr const char* listens = "0A";
      if (state != listens || !own.contains(inode)) continue;
      const std::size_t colon = local.find(':');
      Listening found{local.substr(0, colon),
                      static_cast<std::uint16_t>(std::stoul(local.substr(colon + 1), nullptr, 16))};
      if (colon == 8) {
        const in_addr address{static_cast<in_addr_t>(std::stoul(found.address, nullptr, 16))};
        std::string text(INET_ADDRSTRLEN, '\0');
        found.address = ::inet_ntop(AF_INET, &address, text.data(), INET_ADDRSTRLEN);
      }
      all.push_back(found);
    }
  }
  return all;
}

}  // namespace gv
