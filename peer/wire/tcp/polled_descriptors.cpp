#include "peer/wire/tcp/polled_descriptors.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

namespace gv {
namespace {

/// Returns what a descriptor of epoll's kind waits for, by /proc: "tfd: 7 events: ...".
std::vector<int> waited_for(int epoll) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(epoll));
  std::vector<int> targets;
  std::string word;
  int target = 0;
  while (info >> word)
    if (word == "tfd:" && info >> target) targets.push_back(target);
  return targets;
}

std::optional<int> number_of(const std::filesystem::path& entry) {
  const std::string name = entry.filename().string();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{}) return {};
  return number;
}

}  // namespace

std::vector<int> polled_with(int socket) {
  std::vector<int> all;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    const std::filesystem::path what = std::filesystem::read_symlink(entry.path(), none);
    const std::optional<int> epoll = number_of(entry.path());
    if (!epoll || what != "anon_inode:[eventpoll]") continue;
    const std::vector<int> targets = waited_for(*epoll);
    if (std::ranges::find(targets, socket) == targets.end()) continue;
    all.push_back(*epoll);
    all.insert(all.end(), targets.begin(), targets.end());
  }
  return all;
}

}  // namespace gv
