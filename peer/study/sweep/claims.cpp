#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/study/sweep/sweep_folder.h"
#include "peer/wire/socket/descriptor.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_claim = 4096;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(longest_claim, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

std::string first_line(const std::string& path) {
  const std::string text = text_of(path);
  return text.substr(0, text.find('\n'));
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Returns the process namespace, because containers on one machine have their own process ids.
std::string process_space() {
  std::error_code error;
  return fs::read_symlink("/proc/self/ns/pid", error).string();
}

/// Returns the start time of a process in ticks since boot; empty if it does not exist.
/// Distinguishes processes that reused an id.
std::string start_of(const std::string& pid) {
  const std::string line = first_line("/proc/" + pid + "/stat");
  // The name, in parentheses, may contain anything.
  const auto end = line.rfind(')');
  if (end == std::string::npos) return "";
  std::istringstream in(line.substr(end + 1));
  std::string word;
  constexpr int field = 20;  // index after the name: proc(5), starttime
  for (int i = 0; i < field; ++i) in >> word;
  const bool dead = line.find(") Z ") != std::string::npos;
  return dead ? "" : word;
}

struct Owner {
  std::string host, boot, space, pid, start;
};

Owner ourselves() {
  const std::string pid = std::to_string(::getpid());
  return {host_name(), first_line("/proc/sys/kernel/random/boot_id"), process_space(), pid,
          start_of(pid)};
}

std::optional<Owner> owner_of(const std::string& path) {
  try {
    const JsonValue json = parse_json(text_of(path), path);
    return Owner{json_text(json, "host"), json_text(json, "boot"), json_text(json, "space"),
                 json_text(json, "pid"), json_text(json, "start")};
  } catch (const std::exception&) {
    return std::nullopt;  // half written or not ours: its age decides
  }
}

/// Returns whether the process has certainly ended.
bool has_ended(const Owner& owner) {
  const Owner self = ourselves();
  if (owner.host != self.host || owner.space != self.space) return false;
  if (owner.boot != self.boot) return true;
  if (owner.pid.find_first_not_of("0123456789") != std::string::npos) return false;
  return start_of(owner.pid) != owner.start;
}

}  // namespace

Claims::Claims(std::string folder)
    : folder_(std::move(folder)), renewed_(std::chrono::steady_clock::now()) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw std::runtime_error(fmt::format("{}: {}", folder_, error.message()));
  const Owner self = ourselves();
  words_ = Json{{"host", self.host},
                {"boot", self.boot},
                {"space", self.space},
                {"pid", self.pid},
                {"start", self.start}}
               .dump();
  std::string name;
  for (const char c : self.host) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  token_ = fmt::format("{}-{}-{}", name, self.pid, self.start);
}

Claims::~Claims() {
  while (!held_.empty()) release(std::string(held_.begin()->first));
  std::error_code ignored;
  fs::remove(file(".now-" + token_), ignored);
}

/// Writes our claim to a file whose name is not a claim.
std::string Claims::written_aside() const {
  std::string aside = file(".new-" + token_);
  std::ofstream out(aside, std::ios::trunc);
  out << words_;
  out.close();
  if (!out) throw std::runtime_error(aside + ": cannot be written (is the disk full?)");
  return aside;
}

/// Creates the claim with its content at once: a file is written aside and then named by link(2),
/// which fails if the name exists. So a process killed in between leaves no claim without an owner.
bool Claims::create(const std::string& path) const {
  const std::string aside = written_aside();
  const bool made = ::link(aside.c_str(), path.c_str()) == 0;
  const int error = errno;
  ::unlink(aside.c_str());
  if (!made && error != EEXIST)
    throw std::runtime_error(fmt::format("{}: {}", path, std::strerror(error)));
  return made;
}

bool Claims::take(const std::string& name) {
  if (!create(file(name)) && !take_over(name)) return false;
  held_[name] = true;
  return true;
}

/// Replaces a stale claim. If several processes try, the first replaces it and the others find the
/// new one. The lock file is outside the folder of claims and stays, because removing it could
/// release another's lock. Without locks in the file system, two processes may run the trial.
bool Claims::take_over(const std::string& name) {
  Descriptor lock;
  try {
    lock = sole_use_of(folder_ + ".lock");
  } catch (const std::runtime_error&) {
  }
  const std::string path = file(name);
  if (!is_stale(path)) return false;
  const std::string aside = written_aside();
  if (::rename(aside.c_str(), path.c_str()) == 0) return true;
  ::unlink(aside.c_str());
  return false;
}

void Claims::release(const std::string& name) {
  if (held_.erase(name) > 0) ::unlink(file(name).c_str());
}

void Claims::renew() {
  const auto due = renewed_ + renewal;
  if (std::chrono::steady_clock::now() < due) return;
  renewed_ = std::chrono::steady_clock::now();
  for (const auto& [name, held] : held_) ::utimensat(AT_FDCWD, file(name).c_str(), nullptr, 0);
}

std::optional<std::string> Claims::holder(const std::string& name) const {
  const std::string path = file(name);
  std::error_code error;
  if (!fs::exists(path, error) || is_stale(path)) return std::nullopt;
  const auto owner = owner_of(path);
  if (!owner) return "somebody";
  return printable(fmt::format("{}, process {}", owner->host, owner->pid), 100);
}

std::vector<std::string> Claims::names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with('.')) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

bool Claims::is_stale(const std::string& path) const {
  if (const auto owner = owner_of(path); owner && has_ended(*owner)) return true;
  std::error_code error;
  const auto then = fs::last_write_time(path, error);
  return !error && now() - then > stale;
}

/// Returns the time by the file system's clock: that of a file written now.
fs::file_time_type Claims::now() const {
  const std::string path = file(".now-" + token_);
  std::ofstream(path) << "now";
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  return error ? fs::file_time_type::min() : time;
}

}  // namespace gv
