#include "peer/wire/seal/key_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer/wire/lend/descriptor.h"

namespace gv {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t most_bytes = 64 * 1024;
constexpr std::string_view key_mark = "PRIVATE KEY";
constexpr std::string_view certificate_mark = "CERTIFICATE";
constexpr const char* make_keys_help = "\nhelp:  grapevine keygen FILE makes keys for a fleet";

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", path, what));
}

/// The next block between BEGIN and END lines of this kind, from `at` on.
std::string_view take_block(std::string_view text, std::size_t& at, std::string_view mark) {
  const std::string begin = fmt::format("-----BEGIN {}-----\n", mark);
  const std::string end = fmt::format("-----END {}-----\n", mark);
  if (!text.substr(at).starts_with(begin)) return {};
  const std::size_t last = text.find(end, at);
  if (last == std::string_view::npos) return {};
  const std::size_t first = std::exchange(at, last + end.size());
  return text.substr(first, at - first);
}

/// PEM is ends of lines and printable ASCII (RFC 7468), and none of it has to be escaped where it
/// travels as a word of JSON.
bool is_of_pem(char c) {
  return c == '\n' || (c >= ' ' && c <= '~' && c != '"' && c != '\\');
}

void write_key_file(const std::string& path, std::string_view text) {
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.open()) fail(path, fmt::format("cannot be written: {}", std::strerror(errno)));
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size()) && ::fsync(file.get()) == 0) return;
  const std::string why = std::strerror(errno);
  ::unlink(path.c_str());
  fail(path, "cannot be written: " + why);
}

/// Refuses a file that others own or can read: whoever can read a peer's key can be that peer.
void check_owner(const std::string& path, const struct stat& file) {
  if (!S_ISREG(file.st_mode)) fail(path, "is not a file with keys");
  if (file.st_uid != ::geteuid())
    fail(path,
         fmt::format("belongs to another user (number {}): keys must be our own\nhelp:  copy the "
                     "file as this user",
                     file.st_uid));
  if ((file.st_mode & 077) != 0)
    fail(path,
         fmt::format("others may read it or write it (mode {:04o}): whoever has a peer's key can "
                     "be that peer\nhelp:  chmod 600 {}; if others were on this machine, make new "
                     "keys",
                     file.st_mode & 07777,
                     path));
}

}  // namespace

std::string key_file_name(PeerId id) {
  return fmt::format("peer-{}.pem", id);
}

Secret text_of(const PeerKeys& keys) {
  Secret text = keys.key;
  text += keys.certificate;
  text += keys.authority;
  return text;
}

PeerKeys parse_keys(std::string_view text, const std::string& name) {
  std::size_t at = 0;
  PeerKeys keys;
  keys.key = take_block(text, at, key_mark);
  keys.certificate = take_block(text, at, certificate_mark);
  keys.authority = take_block(text, at, certificate_mark);
  const bool whole = !keys.authority.empty() && at == text.size();
  if (whole && std::ranges::all_of(text, is_of_pem)) return keys;
  fail(name,
       fmt::format(
           "does not hold a private key, its certificate and the authority's in PEM, in this "
           "order and nothing else{}",
           make_keys_help));
}

std::vector<std::string> write_key_files(const std::string& folder,
                                         const std::vector<PeerKeys>& keys) {
  std::vector<std::string> paths;
  for (PeerId i = 0; i < keys.size(); ++i) {
    paths.push_back((fs::path(folder) / key_file_name(i)).string());
    if (fs::exists(fs::symlink_status(paths.back())))
      fail(paths.back(),
           "is there already, and keys are never written over: who still holds the old ones would "
           "be shut out\nhelp:  move the folder away, or give another one with -o");
  }
  if (!folder.empty() && !fs::exists(folder)) {
    const fs::path parent = fs::path(folder).parent_path();
    std::error_code error;
    if (!parent.empty()) fs::create_directories(parent, error);
    if (error || ::mkdir(folder.c_str(), 0700) != 0)
      fail(folder, fmt::format("cannot be made: {}", std::strerror(errno)));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) write_key_file(paths[i], text_of(keys[i]));
  return paths;
}

PeerKeys read_key_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.open() && errno == ELOOP)
    fail(path, "is a link, and keys are not read through links\nhelp:  copy the file here");
  if (!file.open())
    fail(path, fmt::format("cannot be read: {}{}", std::strerror(errno), make_keys_help));
  struct stat state {};
  if (::fstat(file.get(), &state) != 0) fail(path, std::strerror(errno));
  check_owner(path, state);
  Secret text(most_bytes + 1, '\0');
  std::size_t size = 0;
  for (ssize_t count = 1; count > 0 && size < text.size();
       size += static_cast<std::size_t>(std::max<ssize_t>(count, 0)))
    count = ::read(file.get(), text.data() + size, text.size() - size);
  if (size > most_bytes) fail(path, "is longer than keys are");
  text.resize(size);
  return parse_keys(text, path);
}

std::shared_ptr<const TlsContext> context_of_file(const std::string& path, PeerId id) {
  std::shared_ptr<const TlsContext> context;
  const PeerKeys keys = read_key_file(path);
  try {
    context = std::make_shared<TlsContext>(keys);
  } catch (const std::runtime_error& broken) {
    fail(path, fmt::format("{}{}", broken.what(), make_keys_help));
  }
  if (context->identity().peer == id) return context;
  fail(path,
       fmt::format("holds the keys of peer {}, and this is peer {}", context->identity().peer, id));
}

}  // namespace gv
