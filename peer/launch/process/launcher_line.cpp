#include "peer/launch/process/launcher_line.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "optim/error_text.h"
#include "peer/wire/seal/peer_keys.h"
#include "peer/wire/socket/descriptor.h"

namespace gv {
namespace {

/// Blocks SIGPIPE, so that a write to a pipe without a reader only returns an error.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec at_once{};
    if (sigismember(&before_, SIGPIPE) == 0) ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
};

control::Progress progress_of(const PeerProgress& progress) {
  control::Progress says{.round = progress.round,
                         .spent = progress.spent,
                         .waits = {},
                         .staleness = progress.staleness,
                         .queue = progress.queue};
  for (const auto& [peer, waits] : progress.waits)
    says.waits.push_back({peer, waits.late, waits.wire, waits.longest});
  return says;
}

constexpr std::size_t most_pieces = 128;  // maximum that a socket queues

/// Returns a closed descriptor if there is no memory; errno has the reason.
Descriptor memory_file(std::span<const std::byte> bytes) {
  Descriptor file(::memfd_create("vector", MFD_CLOEXEC));
  for (std::size_t done = 0; file.open() && done < bytes.size();) {
    const ssize_t count = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) file.close();
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return file;
}

std::size_t largest_file() {
  rlimit limit{};
  const bool none = ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY;
  return none ? std::numeric_limits<std::size_t>::max() : std::max<std::size_t>(limit.rlim_cur, 1);
}

std::size_t size_of(const Descriptor& file) {
  struct stat info {};
  return ::fstat(file.get(), &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

bool read_file(const Descriptor& file, std::span<std::byte> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count =
        ::pread(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

void LauncherLine::say(const std::string& line) {
  const NoPipeSignal quiet;
  const std::lock_guard lock(mutex_);
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(descriptors_.mouth, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

void LauncherLine::tell_all(TcpPeerOptions& options) {
  options.on_ready = [this] { say(control::line(control::Ready{})); };
  options.on_share = [this](PeerId neighbor) { say(control::line(control::Shares{neighbor})); };
  options.on_progress = [this](const PeerProgress& progress) {
    say(control::line(progress_of(progress)));
  };
  options.on_report = [this](Report report) {
    {
      const NoPipeSignal quiet;
      send_vector(descriptors_.vectors, report.model->floats());
    }
    say(control::line(control::Reported{std::move(report)}));
  };
  options.on_candidate = [this](Round round) { say(control::line(control::Kept{round})); };
  options.on_no_space = [this](const std::string& text) {
    say(control::line(control::NoSpace{text}));
  };
}

/// Returns false at the end of the input.
bool LauncherLine::read_more() {
  std::array<char, 4096> buffer;
  ssize_t count = -1;
  do {
    count = ::read(descriptors_.ear, buffer.data(), buffer.size());
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  heard_.append(buffer.data(), static_cast<std::size_t>(count));
  wipe(buffer.data(), buffer.size());
  return true;
}

/// Takes a line and wipes the buffer, because there may have been a key in it.
std::optional<std::string> LauncherLine::take_line() {
  const std::size_t end = heard_.find('\n');
  if (end == std::string::npos) return {};
  std::string line = heard_.substr(0, end);
  std::string rest = heard_.substr(end + 1);
  wipe(heard_);
  heard_ = std::move(rest);
  return line;
}

std::optional<control::LauncherSays> LauncherLine::hear_line(const std::function<bool()>& wait) {
  std::optional<std::string> line = take_line();
  while (!line && (!wait || wait()) && read_more()) line = take_line();
  if (!line) return {};
  control::LauncherSays says = control::parse_launcher(*line);
  wipe(*line);
  return says;
}

/// Waits for the addresses, and ignores messages for peers that train.
std::optional<std::vector<PeerAddress>> LauncherLine::hear_addresses(
    TcpPeer& peer, const std::function<bool()>& wait) {
  while (const std::optional<control::LauncherSays> says = hear_line(wait)) {
    if (const auto* keys = std::get_if<control::Keys>(&*says)) {
      keep_memory_to_ourselves();
      peer.use_keys(std::make_shared<TlsContext>(keys->keys));
    } else if (const auto* addresses = std::get_if<control::Addresses>(&*says)) {
      if (!addresses->token.empty()) peer.use_token(std::make_shared<RunToken>(addresses->token));
      heed_lines(peer);
      return addresses->list;
    } else if (std::holds_alternative<std::monostate>(*says) ||
               std::holds_alternative<control::Stop>(*says)) {
      return {};
    }
  }
  return {};
}

void LauncherLine::heed_lines(TcpPeer& peer) {
  while (const std::optional<std::string> line = take_line())
    handle_message(control::parse_launcher(*line), peer);
}

bool LauncherLine::hear(TcpPeer& peer) {
  const bool more = read_more();
  heed_lines(peer);
  if (!more) peer.stop();
  return more;
}

void LauncherLine::handle_message(const control::LauncherSays& says, TcpPeer& peer) {
  if (const auto* addresses = std::get_if<control::Addresses>(&says)) {
    for (const PeerAddress& address : addresses->list) peer.readdress(address);
  } else if (const auto* cut = std::get_if<control::Cut>(&says)) {
    peer.cut(cut->peer, cut->length);
  } else if (const auto* keep = std::get_if<control::KeepCheckpoint>(&says)) {
    peer.keep_checkpoint(keep->round);
  } else if (const auto* hold = std::get_if<control::Hold>(&says)) {
    peer.hold_checkpoint(hold->round, hold->next);
  } else if (const auto* record = std::get_if<control::RecordRounds>(&says)) {
    peer.record_whole(record->first, record->last);
  } else if (std::holds_alternative<control::Halt>(says)) {
    peer.halt([this](Round round) { say(control::line(control::Halts{round})); });
  } else if (const auto* stop = std::get_if<control::Stop>(&says); stop && stop->after > 0) {
    peer.end_after(stop->after);
  } else {
    peer.stop();
  }
}

void send_vector(int socket, std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  const std::size_t piece = std::min(largest_file(), std::max<std::size_t>(bytes.size(), 1));
  const std::size_t pieces = std::max<std::size_t>((bytes.size() + piece - 1) / piece, 1);
  for (std::size_t k = 0; k < pieces; ++k) {
    const std::size_t begin = k * piece;
    const Descriptor file =
        pieces > most_pieces
            ? Descriptor()
            : memory_file(bytes.subspan(begin, std::min(piece, bytes.size() - begin)));
    const std::string reason = error_text(pieces > most_pieces ? EFBIG : errno);
    if (!file.open())
      throw std::runtime_error(fmt::format("not enough shared memory to report {} MB: {}",
                                           bytes.size() / 1'000'000, reason));
    const auto follow = static_cast<std::byte>(pieces - 1 - k);
    send_with_descriptor(socket, {&follow, 1}, file.get(), 0);
  }
}

Payload receive_vector(int socket, std::size_t most_bytes) {
  std::vector<Descriptor> files;
  std::size_t size = 0;
  for (std::byte follow{1}; follow != std::byte{0};) {
    files.emplace_back();
    if (files.size() > most_pieces ||
        receive_with_descriptor(socket, {&follow, 1}, files.back()) <= 0 || !files.back().open())
      return nullptr;
    const std::size_t more = size_of(files.back());
    if (more > most_bytes - size) return nullptr;
    size += more;
  }
  auto buffer = std::make_shared<Buffer>(size);
  std::size_t done = 0;
  for (const Descriptor& file : files) {
    const std::span<std::byte> part(buffer->data() + done, std::min(size_of(file), size - done));
    if (!read_file(file, part)) return nullptr;
    done += part.size();
  }
  return buffer;
}

}  // namespace gv
