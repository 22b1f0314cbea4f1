#include <atomic>
#include <csignal>
#include <filesystem>
#include <future>
#include <set>
#include <stdexcept>
#include <system_error>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/read_until.hpp>
#include <asio/signal_set.hpp>
#include <asio/streambuf.hpp>
#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/launch/agent/transport/agent_frame.h"
#include "peer/launch/agent/transport/ssh.h"
#include "peer/launch/lobby/channel.h"
#include "peer/launch/lobby/lobby.h"
#include "peer/launch/process/process.h"
#include "peer/launch/process/stop_signals.h"
#include "peer/runtime/exit_code.h"
#include "peer/wire/seal/spake2.h"
#include "peer/wire/socket/named_socket.h"
#include "peer/wire/tcp/connecting.h"

namespace gv {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto patience_without_lobby = std::chrono::minutes(10);
constexpr auto longest_pause = std::chrono::seconds(10);
constexpr int connect_ms = 3000;
constexpr std::size_t most_agents = 64;

/// A refusal that another attempt does not change.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// No lobby answers. The text is ours, of several lines.
struct Unreachable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Member {
 public:
  explicit Member(const MemberOptions& options)
      : options_(options), secret_(stretch(options.code)), signals_(io_) {
    const sigset_t ends = stop_signals();
    for (int signal = 1; signal < NSIG; ++signal)
      if (sigismember(&ends, signal) == 1) signals_.add(signal);
  }

  int run() {
    signals_.async_wait([this](const asio::error_code& error, int signal) {
      if (!error) leave(signal);
    });
    asio::co_spawn(io_, live(), asio::detached);
    io_.run();
    return code_;
  }

 private:
  void leave(int signal) {
    options_.say("leaving the lobby");
    code_ = 128 + signal;
    over_ = true;
    if (control_) control_->close();
    for (const auto& stream : streams_) stream->close();
    pause_.cancel();
  }

  /// Joins, and joins again after each loss, until the lobby refuses us, closes, or stays away.
  asio::awaitable<void> live() {
    Clock::time_point lost_at = Clock::now();
    Clock::duration pause = std::chrono::seconds(1);
    bool was_in = false;
    while (!over_) {
      joined_ = false;
      const std::string why = co_await visit_once();
      if (over_) break;
      if (joined_) {
        options_.say(fmt::format(
            "the lobby is lost ({}), so the peers here end; trying to join again for ten minutes",
            why));
        was_in = true;
        lost_at = Clock::now();
        pause = std::chrono::seconds(1);
      } else if (!was_in || Clock::now() - lost_at > patience_without_lobby) {
        give_up(why);
        break;
      }
      pause_.expires_after(pause);
      co_await pause_.async_wait(as_result);
      pause = std::min<Clock::duration>(2 * pause, longest_pause);
    }
    signals_.cancel();
    signals_.clear();  // a second signal ends us at once, and the kernel then kills the agents
  }

  void give_up(const std::string& why) {
    options_.say("error: " + why);
    code_ = exit_code::failed;
    over_ = true;
  }

  /// Returns how the visit ended.
  asio::awaitable<std::string> visit_once() {
    std::string why;
    try {
      co_await visit();
      why = "it closed";
    } catch (const Refused& refusal) {
      give_up(refusal.what());
    } catch (const Unreachable& error) {
      why = error.what();
    } catch (const std::system_error& error) {
      const bool cut = error.code() == asio::ssl::error::stream_truncated ||
                       error.code() == asio::error::eof ||
                       error.code() == asio::error::connection_reset;
      why = cut ? "the connection has ended" : printable(error.what(), 300);
    } catch (const std::exception& error) {
      why = printable(error.what(), 300);
    }
    if (control_ && control_->timed_out()) why = "no message from it for 15 s";
    if (control_) control_->close();
    control_.reset();
    for (const auto& stream : streams_) stream->close();
    co_return why;
  }

  /// Waits for another thread. Meanwhile a signal is heeded, and messages are answered.
  template <class Result>
  asio::awaitable<Result> result_of(std::future<Result>& thread) {
    asio::steady_timer tick(io_);
    while (thread.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      tick.expires_after(std::chrono::milliseconds(20));
      co_await tick.async_wait(as_result);
    }
    co_return thread.get();
  }

  asio::awaitable<void> visit() {
    auto found = std::async(std::launch::async,
                            [this] { return options_.find([this] { return over_.load(); }); });
    const std::vector<HostPort> addresses = co_await result_of(found);
    if (over_) co_return;
    control_ = open_channel(addresses);
    control_->allow(proof_patience);
    co_await control_->shake(asio::ssl::stream_base::client);
    digest_ = control_->certificate_digest();
    const Proof proof = co_await prove_to_lobby(*control_, secret_, !token_.empty());
    if (!proof.empty()) throw Refused(proof);
    co_await control_->send(offer_message());
    const JsonValue welcome = co_await control_->receive();
    if (const JsonValue* const error = welcome.find("error"); error != nullptr)
      throw Refused(printable(error->text, 300));
    token_ = json_text(welcome, "token");
    secret_ = stretch(json_text(welcome, "again"), rejoin_salt);
    joined_ = true;
    options_.say(fmt::format("joined the lobby of {} as {}; Ctrl-C leaves it",
                             printable(json_text(welcome, "lobby"), 60),
                             printable(json_text(welcome, "name"), 60)));
    asio::co_spawn(io_, control_->keep_sending(), asio::detached);
    while (!over_) {
      control_->allow(lobby_leash);
      obey(co_await control_->receive(std::size_t{1} << 20));
    }
  }

  // Messages are made outside of coroutines, in which GCC 12 takes no lists of members.
  Json offer_message() const {
    return Json{{"offer", offer_text(options_.offer)}, {"token", token_}};
  }
  Json stream_message(std::uint64_t id) const { return Json{{"stream", id}, {"token", token_}}; }

  void obey(const JsonValue& order) {
    if (const JsonValue* const bye = order.find("bye"); bye != nullptr) {
      options_.say("the lobby has closed: " + printable(bye->text, 200));
      over_ = true;
    } else if (const JsonValue* const line = order.find("say"); line != nullptr) {
      options_.say(printable(line->text, 500));
    } else if (order.find("agent") != nullptr) {
      asio::co_spawn(io_,
                     serve(json_integer<std::uint64_t>(order, "agent"), parse_agent_order(order)),
                     asio::detached);
    } else if (order.find("data") != nullptr) {
      asio::co_spawn(io_, prepare_data(order), asio::detached);
    }
  }

  /// Links our part of the data by the fleet file's names, and reads it. Returns an error, or "".
  static std::string data_problem(const MachineOffer& offer, const JsonValue& order) {
    try {
      const fs::path folder = offer.data_folder;
      if (folder.empty()) throw std::runtime_error("this machine joined without --data");
      fs::remove_all(folder);
      for (const JsonValue& name : json_member(order, "data").items) {
        if (!is_below(name.text)) throw std::runtime_error("a name that leads out of its folder");
        fs::create_directories((folder / name.text).parent_path());
        fs::create_symlink(offer.data, folder / name.text);
      }
      if (order.find("keys") != nullptr) check_part(order, offer.data, folder);
    } catch (const std::exception& failed) {
      return failed.what();
    }
    return "";
  }

  asio::awaitable<void> prepare_data(JsonValue order) {
    auto reading = std::async(std::launch::async, data_problem, options_.offer, order);
    const std::string problem = co_await result_of(reading);
    Json answer;
    answer["data"] = "ready";
    if (!problem.empty()) {
      answer["error"] = problem;
      options_.say("error: " + printable(problem, 2000) +
                   "\nhelp:  correct it here or on the lobby's machine, then press Enter there");
    }
    if (control_) control_->queue(answer);
  }

  /// Returns a connection to the first address that answers.
  std::shared_ptr<LobbyChannel> open_channel(const std::vector<HostPort>& addresses) {
    std::string outcomes;
    for (const HostPort& at : addresses) {
      try {
        Descriptor socket = connected_socket(at.host, at.port, connect_ms);
        const bool v6 = address_of_socket(socket.get()).v6();
        asio::ip::tcp::socket connected(io_);
        connected.assign(v6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), socket.release());
        reached_ = {at};
        return std::make_shared<LobbyChannel>(std::move(connected), tls_);
      } catch (const std::exception& error) {
        outcomes += fmt::format("\n       {}: {}", host_port_text(at.host, at.port), error.what());
      }
    }
    if (addresses.empty())
      throw Unreachable(fmt::format(
          "no lobby with the number {:02} answers on this network\nhelp:  check the code; if the "
          "machines cannot find each other on this network, --at ADDRESS:PORT names the lobby, as "
          "its screen shows",
          options_.code.lobby));
    throw Unreachable("the lobby does not answer" + outcomes);
  }

  /// Starts an agent and connects its streams with the launcher's, through a connection of its own.
  asio::awaitable<void> serve(std::uint64_t id, AgentWords words) {
    std::shared_ptr<LobbyChannel> stream;
    try {
      if (streams_.size() == most_agents) throw std::runtime_error("64 agents run here already");
      stream = open_channel(reached_);
      streams_.insert(stream);
      stream->allow(proof_patience);
      co_await stream->shake(asio::ssl::stream_base::client);
      if (stream->certificate_digest() != digest_)
        throw std::runtime_error("another program answers at the lobby's address");
      co_await stream->send(stream_message(id));
      Spawned agent(agent_argv(options_.program, words));
      asio::co_spawn(io_, show_errors(std::move(agent.errors)), asio::detached);
      co_await stream->relay(asio::posix::stream_descriptor(io_, agent.output.release()),
                             asio::posix::stream_descriptor(io_, agent.input.release()));
      co_await wait_for_end(agent, words.grace_seconds);
    } catch (const std::exception& error) {
      options_.say("error: an agent could not be started: " + printable(error.what(), 300));
    }
    streams_.erase(stream);
  }

  asio::awaitable<void> wait_for_end(Spawned& agent, double grace) {
    asio::steady_timer tick(io_);
    const auto most = std::chrono::duration<double>(grace + 5);
    for (const Clock::time_point began = Clock::now(); Clock::now() - began < most;) {
      if (agent.reap() || !agent.running()) co_return;
      tick.expires_after(std::chrono::milliseconds(20));
      co_await tick.async_wait(as_result);
    }
  }

  asio::awaitable<void> show_errors(Descriptor errors) {
    asio::posix::stream_descriptor in(io_, errors.release());
    asio::streambuf lines(LobbyChannel::most_message_bytes);
    for (;;) {
      const auto [ended, bytes] = co_await asio::async_read_until(in, lines, '\n', as_result);
      if (ended) co_return;
      std::istream text(&lines);
      std::string line;
      std::getline(text, line);
      options_.say(printable(line, 500));
    }
  }

  const MemberOptions& options_;
  Secret secret_;  ///< from the code; after the first welcome, from the secret for coming back
  asio::io_context io_{1};
  asio::ssl::context tls_ = member_context();
  asio::signal_set signals_;
  asio::steady_timer pause_{io_};
  std::shared_ptr<LobbyChannel> control_;
  std::set<std::shared_ptr<LobbyChannel>> streams_;
  std::vector<HostPort> reached_;   ///< address of the last connection
  std::string digest_;              ///< digest of the certificate of the lobby that knows the code
  std::string token_;               ///< proof for later connections, from the lobby
  bool joined_ = false;             ///< since the last connection
  std::atomic<bool> over_ = false;  ///< closed, refused, or a signal; the search reads it too
  int code_ = exit_code::done;
};

}  // namespace

int run_member(const MemberOptions& options) {
  return Member(options).run();
}

}  // namespace gv
