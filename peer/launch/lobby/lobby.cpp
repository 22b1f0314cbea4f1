#include "peer/launch/lobby/lobby.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/post.hpp>
#include <asio/read_until.hpp>
#include <asio/write.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>

#include "optim/printable.h"
#include "peer/fleet/net_address.h"
#include "peer/fleet/read/algorithm_reader.h"
#include "peer/launch/agent/transport/ssh.h"
#include "peer/launch/lobby/channel.h"
#include "peer/wire/frame/frame.h"
#include "peer/wire/seal/peer_keys.h"
#include "peer/wire/seal/spake2.h"
#include "peer/wire/seal/tls_context.h"
#include "peer/wire/socket/named_socket.h"
#include "peer/wire/tcp/connecting.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
using Connection = std::shared_ptr<LobbyChannel>;
using Local = asio::local::stream_protocol;

constexpr std::size_t most_strangers = 16;
constexpr std::size_t most_stranger_bytes = 1024;  ///< maximum size of a message before the proof
constexpr std::size_t most_members = 64;
constexpr std::size_t most_streams = 256;
constexpr std::size_t most_order_bytes = 4096;
/// Time in which a machine that is here must start an agent. Longer than lobby_leash, so that a
/// lost connection is noticed first.
constexpr auto stream_patience = lobby_leash + std::chrono::seconds(5);
/// Time in which a machine that is away must come back and start an agent. The launcher's own
/// patience is longer.
constexpr auto return_patience = std::chrono::seconds(50);

/// A machine with its connection, null while it is away.
struct Seat {
  MachineOffer offer;
  std::string address;
  std::string token;
  Connection control;
  Clock::time_point lost_at{};
  std::string data_problem{};
};

/// Compares in a time that does not depend on the place of the first difference.
bool same_token(const std::string& a, const std::string& b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

/// Messages are made outside of coroutines, in which GCC 12 takes no lists of members.
Json refusal_message(const std::string& why) {
  return Json{{"error", why}};
}

Json agent_message(std::uint64_t id, const JsonValue& order) {
  Json message = agent_order(parse_agent_order(order));
  message["agent"] = id;
  return message;
}

Json welcome_message(const std::string& name, const std::string& token, const std::string& again) {
  return Json{{"name", name}, {"token", token}, {"again", again}, {"lobby", host_name()}};
}

}  // namespace

class Lobby::Impl {
 public:
  explicit Impl(LobbyOptions options)
      : options_(std::move(options)),
        stretched_(stretch(options_.code)),
        again_(stretch(options_.again, rejoin_salt)),
        launchers_(io_) {
    listen();
    std::remove(options_.socket.c_str());
    launchers_.open();
    close_on_exec(launchers_.native_handle());
    launchers_.bind(Local::endpoint(options_.socket));
    launchers_.listen();
    asio::co_spawn(io_, admit_launchers(), asio::detached);
    for (auto& acceptor : acceptors_) asio::co_spawn(io_, admit_machines(acceptor), asio::detached);
    start_thread();
  }

  ~Impl() {
    asio::post(io_, [this] { close(); });
    thread_.join();
    std::remove(options_.socket.c_str());
  }

  std::uint16_t port() const { return port_; }

  std::vector<LobbyMember> members() const {
    const std::lock_guard lock(mutex_);
    std::vector<LobbyMember> all;
    for (const auto& [name, place] : places_) {
      const double away = std::chrono::duration<double>(Clock::now() - place.lost_at).count();
      const bool here = place.control != nullptr;
      all.push_back({place.offer, place.address, here, here ? 0 : away, place.data_problem});
    }
    return all;
  }

  void send(const std::string& member, const Json& message) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto at = places_.find(member); at != places_.end())
        at->second.data_problem = no_answer_yet;
    }
    asio::post(io_, [this, member, message] {
      for (const auto& [name, place] : places_)
        if (place.control && (member.empty() || member == name)) place.control->queue(message);
    });
  }

 private:
  void listen() {
    for (Descriptor& socket : listening_sockets(std::string(any_address), options_.port)) {
      const SocketAddress bound = address_of_socket(socket.get());
      port_ = bound.port();
      acceptors_.emplace_back(io_);
      acceptors_.back().assign(bound.v6() ? asio::ip::tcp::v6() : asio::ip::tcp::v4(),
                               socket.release());
    }
  }

  void start_thread() {
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    thread_ = std::thread([this] { io_.run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  /// Gives the last words a moment to be sent.
  void close() {
    closing_ = true;
    asio::error_code ignored;
    for (auto& acceptor : acceptors_) acceptor.close(ignored);
    launchers_.close(ignored);
    for (auto& [name, place] : places_)
      if (place.control)
        place.control->queue(Json{{"bye", "its run is over, or its user has closed it"}});
    farewell_.expires_after(std::chrono::milliseconds(200));
    farewell_.async_wait([this](const asio::error_code&) { io_.stop(); });
  }

  template <class Value>
  void set(Value& value, Value to) {
    const std::lock_guard lock(mutex_);
    value = std::move(to);
  }

  asio::awaitable<void> admit_machines(asio::ip::tcp::acceptor& acceptor) {
    while (auto socket = co_await accept_next(acceptor)) {
      if (strangers_.size() == most_strangers) hang_up_on_one();
      strangers_.push_back(std::make_shared<LobbyChannel>(std::move(*socket), tls_));
      asio::co_spawn(io_, meet(strangers_.back()), asio::detached);
    }
  }

  /// Hangs up on the oldest stranger of the source with the most connections, so that no machine
  /// keeps the others out.
  void hang_up_on_one() {
    std::map<std::string, int> of_source;
    for (const Connection& each : strangers_) ++of_source[attempt_source(each->address())];
    const auto greediest = std::ranges::max_element(strangers_, {}, [&](const Connection& each) {
      return of_source[attempt_source(each->address())];
    });
    (*greediest)->close();
    strangers_.erase(greediest);
  }

  /// Serves a connection of a machine from its first byte to its end.
  asio::awaitable<void> meet(Connection channel) {
    std::string name;
    try {
      channel->allow(proof_patience);
      co_await channel->shake(asio::ssl::stream_base::server);
      name = co_await let_in(channel);
    } catch (const std::exception&) {  // a port scan, or a machine that went away
      channel->close();
    }
    std::erase(strangers_, channel);
    if (!name.empty()) co_await listen_to(channel, name);
  }

  void take_stream(const Connection& channel, const JsonValue& first) {
    const auto id = json_integer<std::uint64_t>(first, "stream");
    const auto wanted = wanted_.find(id);
    const bool known = wanted != wanted_.end();
    if (!known || !same_token(json_text(first, "token"), places_.at(wanted->second.machine).token))
      return channel->close();
    wanted->second.stream = channel;
    wanted->second.patience->cancel();
  }

  /// Lets a machine in that proves the code. Returns its name; "" if it is refused, and for the
  /// stream of an agent.
  asio::awaitable<std::string> let_in(Connection channel) {
    const JsonValue first = co_await channel->receive(most_stranger_bytes);
    if (first.find("stream") != nullptr) {
      take_stream(channel, first);
      co_return "";
    }
    const bool again = first.find("again") != nullptr;
    const Secret& secret = again ? again_ : stretched_;
    const Proof proof =
        co_await prove_to_member(*channel, secret, first, again ? nullptr : &attempts_);
    if (!proof.empty()) {
      show_refusal(channel->address(), proof);
      co_return "";
    }
    const JsonValue offer = co_await channel->receive();
    co_return co_await welcome(channel, offer);
  }

  asio::awaitable<std::string> welcome(Connection channel, const JsonValue& message) {
    MachineOffer offer = parse_offer(parse_json(json_text(message, "offer"), "an offer"));
    std::string refusal;
    if (offer.facts.wire != wire::version || offer.facts.version != program_version)
      refusal = fmt::format(
          "this machine has Grapevine {} (wire version {}), the lobby {} (wire version {}): "
          "install the same version on both",
          offer.facts.version, offer.facts.wire, program_version, wire::version);
    const std::string token = json_text(message, "token");
    const std::string name = refusal.empty() ? free_name(offer.name, token) : "";
    if (refusal.empty() && name.empty()) refusal = "the lobby is full: it has 64 machines";
    if (!refusal.empty()) {
      show_refusal(fmt::format("{} at {}", offer.name, channel->address()), refusal);
      co_await channel->send(refusal_message(refusal));
      co_return "";
    }
    offer.name = name;
    Seat place{.offer = offer,
               .address = channel->address(),
               .token = token.empty() ? std::string(RunToken().text()) : token,
               .control = channel};
    // Queued rather than sent: during a wait here, another machine could get the same name.
    channel->queue(welcome_message(name, place.token, options_.again));
    const bool back = places_.contains(name);
    options_.say(
        fmt::format("{} {} from {}", name, back ? "is back" : "joined", channel->address()));
    take_place(name, std::move(place));  // last: after an error, nothing would empty the place
    co_return name;
  }

  /// Shows every wrong code, because JoinAttempts limits their number, and at most one other
  /// refusal a second.
  void show_refusal(const std::string& whom, const std::string& why) {
    const Clock::time_point now = Clock::now();
    if (why != wrong_code && now < shows_again_) return;
    if (why != wrong_code) shows_again_ = now + std::chrono::seconds(1);
    options_.say(fmt::format("refused {}: {}", whom, why));
  }

  void take_place(const std::string& name, Seat place) {
    const std::lock_guard lock(mutex_);
    const auto at = places_.find(name);
    if (at != places_.end() && at->second.control) at->second.control->close();
    places_[name] = std::move(place);
    for (auto& [id, wanted] : wanted_)
      if (wanted.machine == name) order(wanted);
  }

  /// Returns the name of the machine's earlier place, or one that no other machine has; "" if the
  /// lobby is full.
  std::string free_name(const std::string& wish, const std::string& token) const {
    for (const auto& [name, place] : places_)
      if (!token.empty() && same_token(place.token, token)) return name;
    const auto is_free = [this](const std::string& name) {
      const auto at = places_.find(name);
      return name != options_.name && (at == places_.end() || at->second.control == nullptr);
    };
    for (std::size_t k = 1; k <= most_members; ++k) {
      const std::string name = k == 1 ? wish : fmt::format("{}-{}", wish, k);
      if (is_free(name)) return places_.size() < most_members || places_.contains(name) ? name : "";
    }
    return "";
  }

  asio::awaitable<void> listen_to(Connection channel, const std::string& name) {
    asio::co_spawn(io_, channel->keep_sending(), asio::detached);
    try {
      for (;;) {
        channel->allow(lobby_leash);
        const JsonValue message = co_await channel->receive();
        if (message.find("data") == nullptr) continue;
        const JsonValue* const error = message.find("error");
        set(places_.at(name).data_problem,
            error == nullptr ? std::string() : printable(error->text, 2000));
      }
    } catch (const std::exception&) {  // lost, or it breaks the protocol
    }
    channel->close();
    Seat& place = places_.at(name);
    if (place.control != channel) co_return;  // it came back through another connection
    set(place.lost_at, Clock::now());
    set(place.control, Connection());
    for (auto& [id, wanted] : wanted_)
      if (wanted.machine == name) order(wanted);
    if (!closing_) options_.say(name + " has left");
  }

  asio::awaitable<void> admit_launchers() {
    while (auto socket = co_await accept_next(launchers_))
      asio::co_spawn(io_, connect(std::move(*socket)), asio::detached);
  }

  /// Connects a launcher with a new agent on the machine that its first line names.
  asio::awaitable<void> connect(Local::socket launcher) {
    std::string line;
    const auto [error, bytes] = co_await asio::async_read_until(
        launcher, asio::dynamic_buffer(line, most_order_bytes), '\n', as_result);
    if (error) co_return;
    std::string answer = "\n";
    Connection stream;
    try {
      stream = co_await stream_for(parse_json(line.substr(0, bytes), "a launcher's order"));
    } catch (const std::exception& failed) {
      answer = std::string(failed.what()) + "\n";
    }
    co_await asio::async_write(launcher, asio::buffer(answer), as_result);
    if (!stream) co_return;
    Descriptor out(::fcntl(launcher.native_handle(), F_DUPFD_CLOEXEC, 0));
    if (!out.open()) co_return;  // too many open files
    co_await stream->relay(asio::posix::stream_descriptor(io_, launcher.release()),
                           asio::posix::stream_descriptor(io_, out.release()));
  }

  /// An agent that a launcher wants.
  struct Wanted {
    std::string machine;
    Json message;               ///< the order for the machine
    Clock::time_point back_by;  ///< until then the machine may be away
    Connection stream;
    std::shared_ptr<asio::steady_timer> patience;  ///< cancelled when something has changed
  };

  /// Orders the agent through the machine's present connection. While the machine is away, the
  /// order waits for it.
  void order(Wanted& wanted) {
    if (wanted.stream) return;
    const Connection& control = places_.at(wanted.machine).control;
    if (control) control->queue(wanted.message);
    wanted.patience->expires_at(control ? Clock::now() + stream_patience : wanted.back_by);
  }

  /// Orders an agent, and waits for the connection to it.
  asio::awaitable<Connection> stream_for(JsonValue launcher) {
    const std::string name = json_text(launcher, "host");
    if (!places_.contains(name)) throw std::runtime_error(name + " has never been in the lobby");
    if (wanted_.size() >= most_streams) throw std::runtime_error("too many agents at once");
    const std::uint64_t id = ++last_stream_;
    const auto patience = std::make_shared<asio::steady_timer>(io_);
    const bool waits = json_boolean(launcher, "wait");
    wanted_[id] = {name, agent_message(id, launcher),
                   Clock::now() + (waits ? return_patience : Clock::duration{0}), nullptr,
                   patience};
    order(wanted_[id]);
    while (!wanted_[id].stream && Clock::now() < patience->expiry())
      co_await patience->async_wait(as_result);
    const Connection stream = wanted_[id].stream;
    wanted_.erase(id);
    if (stream) co_return stream;
    if (places_.at(name).control) throw std::runtime_error(name + " has started no agent in time");
    throw std::runtime_error(name + " is away; its `grapevine join` may come back");
  }

  LobbyOptions options_;
  Secret stretched_, again_;  ///< from the code, and from the secret of machines that come back
  asio::io_context io_{1};
  asio::ssl::context tls_ = lobby_context();
  std::vector<asio::ip::tcp::acceptor> acceptors_;
  Local::acceptor launchers_;
  asio::steady_timer farewell_{io_};
  std::uint16_t port_ = 0;
  bool closing_ = false;
  std::vector<Connection> strangers_;  ///< those that have proved nothing, the oldest first
  Clock::time_point shows_again_{};    ///< time of the next line about a refusal
  JoinAttempts attempts_;
  std::uint64_t last_stream_ = 0;
  std::map<std::uint64_t, Wanted> wanted_;
  mutable std::mutex mutex_;            ///< for places_, which other threads read
  std::map<std::string, Seat> places_;  ///< by name
  std::thread thread_;
};

Lobby::Lobby(LobbyOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Lobby::~Lobby() = default;

std::uint16_t Lobby::port() const {
  return impl_->port();
}

std::vector<LobbyMember> Lobby::members() const {
  return impl_->members();
}

void Lobby::send(const std::string& member, const Json& message) {
  impl_->send(member, message);
}

}  // namespace gv
