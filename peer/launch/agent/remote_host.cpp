#include <algorithm>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "optim/check.h"
#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/agent/machines.h"

namespace gv {
namespace {

constexpr std::size_t most_error_text = 4096;
constexpr std::size_t most_answers = 64;
constexpr std::size_t most_lines = 100'000;  ///< lines of a peer that the launcher has not taken

Descriptor nothing_to_write() {
  return Descriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC));
}

std::vector<std::string> take_all(std::deque<std::string>& lines) {
  std::vector<std::string> taken(std::make_move_iterator(lines.begin()),
                                 std::make_move_iterator(lines.end()));
  lines.clear();
  return taken;
}

void keep(std::deque<std::string>& lines, std::string line) {
  if (lines.size() >= most_lines)
    throw std::runtime_error("the agent sends more lines than can be read");
  lines.push_back(std::move(line));
}

}  // namespace

/// A peer there, as its launcher sees it. May outlive the host's entry for it.
class RemoteHost::RemoteProcess : public Process {
 public:
  RemoteProcess(RemoteHost& host, PeerId id, std::shared_ptr<Peer> peer)
      : host_(host), id_(id), peer_(std::move(peer)) {}

  pid_t pid() const override { return peer_->pid; }
  void tell(const std::string& line) override { host_.send({AgentKind::tell, id_, line}); }
  /// If there is no agent yet, no one else would learn that the process is over.
  void kill(int signal) override {
    if (running() && signal == SIGKILL && !host_.facts() && host_.failure().empty())
      host_.give_up("given up before its agent came");
    if (running()) host_.send({AgentKind::signal, id_, Json{{"signal", signal}}.dump()});
  }
  std::vector<std::string> take_output() override { return take_all(peer_->output); }
  std::vector<std::string> take_errors() override { return take_all(peer_->errors); }
  Payload take_vector(std::size_t) override {  // see most_vector_bytes_
    if (peer_->vectors.empty()) return nullptr;
    Payload vector = std::move(peer_->vectors.front());
    peer_->vectors.pop_front();
    return vector;
  }
  bool reap() override { return peer_->ending && !std::exchange(reaped_, true); }
  bool running() const override { return !reaped_; }
  std::string ending() const override { return peer_->ending.value_or(""); }
  void add_to(std::vector<pollfd>&) const override {}  // its host's are enough

 private:
  RemoteHost& host_;
  PeerId id_;
  std::shared_ptr<Peer> peer_;
  bool reaped_ = false;
};

RemoteHost::RemoteHost(std::string name,
                       AgentStart start,
                       Time leash,
                       std::size_t most_vector_bytes)
    : name_(std::move(name)),
      start_(std::move(start)),
      leash_(leash),
      most_vector_bytes_(most_vector_bytes),
      process_(start_.argv),
      stream_(std::move(process_.output), std::move(process_.input)),
      errors_(std::move(process_.errors), nothing_to_write()) {}

void RemoteHost::add_to(std::vector<pollfd>& fds) const {
  if (!is_ahead()) stream_.add_to(fds);
  errors_.add_to(fds);
}

void RemoteHost::send(const AgentFrame& frame) {
  if (!failure_.empty()) return;
  greeted_ ? stream_.write(encode(frame)) : static_cast<void>(queue_ += encode(frame));
}

void RemoteHost::work() {
  if (!failure_.empty() || left_) return;
  hear_errors();
  try {
    if (is_ahead())
      silence_.end();  // we ourselves do not read
    else
      hear(stream_.read());
  } catch (const DiskError& full) {
    return fail(full.what());
  } catch (const std::exception& nonsense) {
    return fail(fmt::format("the agent said what cannot be understood: {}", nonsense.what()));
  }
  if (!failure_.empty()) return;  // with its own reason
  stream_.flush();
  if (stream_.ended()) {
    hear_errors();
    return fail(error_text_.empty() ? "the connection has ended" : printable(error_text_, 1000));
  }
  constexpr Time between_pings{std::chrono::seconds(2)};
  const Clock::time_point now = Clock::now();
  constexpr Time start_patience{std::chrono::seconds(60)};  // an 18 MB program, a slow line
  if (!facts_ && now - began_ > start_patience) return fail("no agent came up in a minute");
  if (!facts_) return;
  if (silence_.length(now) > leash_)
    return fail(fmt::format("no message from it for {} s (launch.leash)",
                            std::chrono::duration<double>(leash_).count()));
  if (now < ping_at_) return;
  ping_at_ = now + between_pings;
  send({});
}

/// Returns whether many reports wait for the launcher: until it takes them, nothing more is read.
bool RemoteHost::is_ahead() const {
  constexpr std::size_t most_vectors = 8;
  return std::ranges::any_of(
      peers_, [](const auto& peer) { return peer.second->vectors.size() >= most_vectors; });
}

/// Removes carriage returns, since ssh ends its lines as terminals do.
void RemoteHost::hear_errors() {
  error_text_ += errors_.read();
  std::erase(error_text_, '\r');
  if (error_text_.size() > most_error_text)
    error_text_.erase(0, error_text_.size() - most_error_text);
}

void RemoteHost::hear(const std::string& bytes) {
  if (bytes.empty()) return;
  silence_.end();
  received_bytes_ += bytes.size();
  if (greeted_) {
    reader_.feed(bytes);
  } else {
    heard_text_ += bytes;
    hear_noise();
  }
  while (greeted_) {
    std::optional<AgentFrame> frame = reader_.take();
    if (!frame) return;
    take(std::move(*frame));
  }
}

/// Handles lines before the hello. Three kinds are for us: the hello, "send NONCE PROCESSOR" to ask
/// for the program, and "no NONCE why".
void RemoteHost::hear_noise() {
  for (std::size_t end = heard_text_.find('\n'); end != std::string::npos && !greeted_;
       end = heard_text_.find('\n')) {
    std::string line = heard_text_.substr(0, end + 1);
    heard_text_.erase(0, end + 1);
    // A shell may print something without an end of line before ours.
    const std::size_t ours = line.rfind("grapevine-agent ");
    if (ours != std::string::npos && line.find(start_.nonce, ours) != std::string::npos) {
      noise_ += printable(line.substr(0, ours), 1000);
      line.erase(0, ours);
    }
    const std::string refusal = fmt::format("grapevine-agent no {} ", start_.nonce);
    const std::string wish = fmt::format("grapevine-agent send {} ", start_.nonce);
    if (line == agent_hello(start_.nonce)) {
      greeted_ = true;
      reader_.feed(std::exchange(heard_text_, {}));
      stream_.write(std::exchange(queue_, {}));
    } else if (line.starts_with(wish) && start_.program) {
      send_program(line.substr(wish.size(), line.size() - wish.size() - 1));
    } else if (line.starts_with(refusal)) {
      unfit_ = true;
      return fail(printable(line.substr(refusal.size(), line.size() - refusal.size() - 1), 1000));
    } else {
      noise_ += printable(line, 1000);
    }
  }
  if (noise_.size() + heard_text_.size() > most_noise_bytes)
    throw std::runtime_error("more than 64 KiB before its greeting");
}

void RemoteHost::send_program(const std::string& processor) {
  const std::string bytes = start_.program(processor);
  if (!bytes.empty()) return stream_.write(bytes);
  unfit_ = true;
  fail(
      fmt::format("asks for a program for `{}`, and there is none here", printable(processor, 40)));
}

RemoteHost::Peer* RemoteHost::peer_of(PeerId id) {
  const auto at = peers_.find(id);
  return at == peers_.end() ? nullptr : at->second.get();
}

void RemoteHost::take(AgentFrame frame) {
  Peer* const peer = peer_of(frame.peer);
  switch (frame.kind) {
    case AgentKind::facts:
      facts_ = parse_facts(frame.body);
      clock_ahead_ = gv::clock_ahead(facts_->clock, clock_at_start_, own_clock());
      seconds_to_facts_ = std::chrono::duration<double>(Clock::now() - began_).count();
      return;
    case AgentKind::opened:
    case AgentKind::called:
    case AgentKind::looked:
    case AgentKind::measured:
    case AgentKind::fetched:
      if (answers_.size() >= most_answers) throw std::runtime_error("answers to no question");
      answers_.emplace_back(frame.kind, std::move(frame.body));
      return;
    case AgentKind::failed:
      return fail(printable(frame.body, 1000));
    case AgentKind::file:
      if (files_) files_->take(frame.body);
      return;
    default:
      break;
  }
  if (peer == nullptr || peer->ending) return;
  if (frame.kind == AgentKind::output) keep(peer->output, std::move(frame.body));
  if (frame.kind == AgentKind::errors) keep(peer->errors, std::move(frame.body));
  if (frame.kind == AgentKind::vector) take_vector(*peer, frame.body);
  if (frame.kind == AgentKind::started) {
    const JsonValue json = parse_json(frame.body, "an agent's start");
    if (json.find("error") != nullptr)
      peer->ending = "not started: " + printable(json_text(json, "error"), 1000);
    else
      peer->pid = json_integer<pid_t>(json, "pid");
  }
  if (frame.kind == AgentKind::ended)
    peer->ending = printable(json_text(parse_json(frame.body, "an agent's end"), "ending"), 200);
}

void RemoteHost::take_vector(Peer& peer, const std::string& piece) {
  if (piece.empty() || peer.vector.size() + piece.size() - 1 > most_vector_bytes_)
    throw std::runtime_error("a vector longer than the model");
  peer.vector.append(piece, 1);
  if (piece[0] == 0) return;
  const auto buffer = std::make_shared<Buffer>(peer.vector.size());
  std::memcpy(buffer->data(), peer.vector.data(), peer.vector.size());
  peer.vectors.push_back(buffer);
  peer.vector.clear();
}

std::optional<std::string> RemoteHost::take_answer(AgentKind kind) {
  const auto at = std::ranges::find(answers_, kind, &std::pair<AgentKind, std::string>::first);
  if (at == answers_.end()) return {};
  std::string answer = std::move(at->second);
  answers_.erase(at);
  return answer;
}

std::unique_ptr<Process> RemoteHost::start(PeerId id, const std::vector<std::string>& args) {
  const auto peer = std::make_shared<Peer>();
  if (!failure_.empty()) peer->ending = "its host is lost";
  peers_[id] = peer;
  send({AgentKind::start, id,
        Json{{"args", args}, {"most_vector_bytes", most_vector_bytes_}}.dump()});
  return std::make_unique<RemoteProcess>(*this, id, peer);
}

void RemoteHost::leave(bool keep) {
  send({AgentKind::leave, 0, Json{{"keep", keep}}.dump()});
  left_ = true;
}

bool RemoteHost::leaving() {
  if (!left_ || !failure_.empty() || process_.reap() || !process_.running()) return false;
  stream_.flush();
  if (stream_.waiting() == 0) stream_.close_output();
  return true;
}

/// Fails the host; its peers are lost with it, because their state is unknown.
void RemoteHost::fail(const std::string& why) {
  failure_ = why;
  for (auto& [id, peer] : peers_)
    if (!peer->ending) peer->ending = fmt::format("host {} lost", name_);
  process_.kill(SIGKILL);
}

}  // namespace gv
