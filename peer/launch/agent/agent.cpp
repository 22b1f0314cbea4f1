#include "peer/launch/agent/agent.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/agent/facts/data_look.h"
#include "peer/launch/agent/facts/facts.h"
#include "peer/launch/agent/link_meter.h"
#include "peer/launch/agent/transport/agent_frame.h"
#include "peer/launch/agent/transport/bundle.h"
#include "peer/launch/process/control.h"
#include "peer/launch/process/process.h"
#include "peer/runtime/exit_code.h"
#include "peer/wire/socket/descriptor.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most_reason = 1000;
constexpr Time between_pings{std::chrono::seconds(2)};

class Agent {
 public:
  explicit Agent(const AgentOptions& options)
      : options_(options),
        folder_(cache_folder("runs/" + options.run)),
        lock_(sole_use_of(folder_ + "/agent.lock")),
        files_(
            folder_, [](const std::string&) { return true; }, most_file_bytes),
        stream_(Descriptor(::dup(STDIN_FILENO)), Descriptor(::dup(STDOUT_FILENO))) {}

  int run() {
    stream_.write(agent_hello(options_.nonce));
    say({AgentKind::facts, 0, facts_text(own_facts())});
    try {
      while (!over_) turn();
    } catch (const std::exception& wrong) {  // such as a full disk
      say({AgentKind::failed, 0, printable(wrong.what(), most_reason)});
      throw;
    }
    return code_;
  }

 private:
  static constexpr std::uint64_t most_file_bytes = std::uint64_t{64} << 30;
  static constexpr std::size_t most_waiting_bytes = std::size_t{256} << 20;

  void turn() {
    wait_for_events();
    take_orders();
    if (listener_) listener_->answer();
    tell_measured();
    tell_looked();
    stream_.flush();
    if (stream_.waiting() < most_waiting_bytes)
      for (auto& [id, child] : peers_) hear(id, *child);
    watch_leash();
    ping_when_due();
  }

  void say(const AgentFrame& frame) { stream_.write(encode(frame)); }

  void wait_for_events() {
    std::vector<pollfd> fds;
    stream_.add_to(fds);
    if (listener_) listener_->add_to(fds);
    for (const auto& [id, child] : peers_) child->add_to(fds);
    const bool soon = measuring_.valid() || looking_.valid();
    ::poll(fds.data(), fds.size(), soon ? 10 : 100);
  }

  void take_orders() {
    const std::string bytes = stream_.read();
    if (!bytes.empty()) silence_.end();
    reader_.feed(bytes);
    while (const std::optional<AgentFrame> frame = reader_.take()) obey(*frame);
    if (stream_.ended() && !let_go_at_) {
      constexpr Time short_grace{std::chrono::seconds(1)};  // their further work is lost
      let_go(std::min(options_.grace, short_grace));
    }
  }

  void obey(const AgentFrame& frame) {
    switch (frame.kind) {
      case AgentKind::door:
        return open(parse_json(frame.body, "a launcher's door"), listener_);
      case AgentKind::call:
        return call(parse_json(frame.body, "a launcher's calls"));
      case AgentKind::meter:
        return open(parse_json(frame.body, "a launcher's meter"), meter_);
      case AgentKind::measure:
        return measure(parse_json(frame.body, "a launcher's measurement"));
      case AgentKind::shut:
        return listener_.reset();
      case AgentKind::look:
        return look(parse_json(frame.body, "a launcher's question"));
      case AgentKind::file:
        return files_.take(frame.body);
      case AgentKind::start:
        return start(frame.peer, parse_json(frame.body, "a launcher's start"));
      case AgentKind::tell:
        if (const auto at = peers_.find(frame.peer); at != peers_.end())
          at->second->tell(frame.body);
        return;
      case AgentKind::signal:
        if (const auto at = peers_.find(frame.peer); at != peers_.end())
          at->second->kill(json_integer<int>(parse_json(frame.body, "a signal"), "signal"));
        return;
      case AgentKind::fetch:
        return give_files();
      case AgentKind::leave:
        return leave(json_boolean(parse_json(frame.body, "a launcher's farewell"), "keep"));
      default:
        return;
    }
  }

  template <class Listener>
  void open(const JsonValue& order, std::unique_ptr<Listener>& listener) {
    Json answer = Json::object();
    try {
      listener = std::make_unique<Listener>(json_text(order, "address"),
                                            json_integer<std::uint16_t>(order, "port"),
                                            json_text(order, "nonce"));
      answer["port"] = listener->port();
    } catch (const std::runtime_error& taken) {
      answer["error"] = std::string(taken.what());
    }
    say({AgentKind::opened, 0, answer.dump()});
  }

  static std::vector<Call> calls_in(const JsonValue& order) {
    std::vector<Call> calls;
    for (const JsonValue& each : json_member(order, "calls").items)
      calls.push_back({json_text(each, "address"), json_integer<std::uint16_t>(each, "port"),
                       json_text(each, "nonce")});
    return calls;
  }

  void call(const JsonValue& order) {
    const std::vector<std::string> answers = answers_of(calls_in(order), listener_.get());
    say({AgentKind::called, 0, Json{{"answers", answers}}.dump()});
  }

  /// In a thread of its own, because signs of life must continue.
  void measure(const JsonValue& order) {
    measuring_ =
        std::async(std::launch::async, speeds_of, calls_in(order), json_number(order, "seconds"));
  }

  void tell_measured() {
    if (!measuring_.valid() ||
        measuring_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      return;
    Json links = Json::array();
    for (const LinkSpeed& speed : measuring_.get()) {
      Json link{{"latency", speed.latency}, {"bandwidth", speed.bandwidth}};
      links.push_back(speed.why.empty() ? link : Json{{"error", speed.why}});
    }
    say({AgentKind::measured, 0, Json{{"links", links}}.dump()});
  }

  /// In a thread of its own, because reading data may take longer than a sign of life.
  void look(const JsonValue& order) {
    std::vector<std::string> paths;
    for (const JsonValue& path : json_member(order, "paths").items) paths.push_back(path.text);
    const JsonValue* const asked = order.find("devices");
    const bool devices = asked != nullptr && asked->boolean;
    looking_ = std::async(std::launch::async, [paths, folder = folder_, devices] {
      try {
        return look_text(paths, folder, devices);
      } catch (const std::exception& unread) {
        return Json{{"error", std::string(unread.what())}}.dump();
      }
    });
  }

  void tell_looked() {
    if (looking_.valid() && looking_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
      say({AgentKind::looked, 0, looking_.get()});
  }

  /// Uses the same folder for a peer as its launcher: peers/003.
  void start(PeerId id, const JsonValue& order) {
    Json answer = Json::object();
    try {
      const std::string own = fmt::format("{}/peers/{:03}", folder_, id);
      std::filesystem::create_directories(own);
      std::vector<std::string> argv{
          options_.program, "peer", folder_ + "/fleet.yaml", "--id", std::to_string(id),
          "--launched",     own};
      for (const JsonValue& word : json_member(order, "args").items) argv.push_back(word.text);
      most_vector_bytes_ = json_integer<std::size_t>(order, "most_vector_bytes");
      need_open_files(files_besides + files_per_child * (peers_.size() + 1));
      peers_[id] = std::make_unique<Child>(argv);
      answer["pid"] = peers_[id]->pid();
    } catch (const std::exception& failed) {
      answer["error"] = std::string(failed.what());
    }
    say({AgentKind::started, id, answer.dump()});
  }

  /// After the leash has ended, a launcher that is merely late must not take the last words of a
  /// peer that we end for those of one that has done its work: it learns that this host is lost.
  void hear(PeerId id, Child& child) {
    const bool tells = !let_go_at_;
    const auto on_output = [&](const std::string& line) {
      if (!tells) return;
      if (std::holds_alternative<control::Reported>(control::parse_peer(line)))
        give_vector(id, child);
      say({AgentKind::output, id, line.substr(0, most_agent_bytes)});
    };
    const bool has_ended = gv::hear(child, on_output, [&](const std::string& line) {
      if (tells) say({AgentKind::errors, id, line.substr(0, most_agent_bytes)});
    });
    if (has_ended && tells) say({AgentKind::ended, id, Json{{"ending", child.ending()}}.dump()});
  }

  void give_vector(PeerId id, Child& child) {
    const Payload vector = child.take_vector(most_vector_bytes_);
    if (!vector) return;  // the launcher notices that the report has none
    const std::string_view bytes(reinterpret_cast<const char*>(vector->data()), vector->size());
    for (std::size_t begin = 0; begin < bytes.size(); begin += agent_piece_bytes) {
      const bool last = begin + agent_piece_bytes >= bytes.size();
      std::string body(1, last ? '\1' : '\0');
      say({AgentKind::vector, id, body.append(bytes.substr(begin, agent_piece_bytes))});
    }
  }

  void give_files() {
    std::string error;
    try {
      send_files(folder_, "peers", [this](const AgentFrame& frame) { say(frame); });
    } catch (const std::exception& unread) {
      error = unread.what();
    }
    say({AgentKind::fetched, 0, Json{{"error", error}}.dump()});
  }

  /// Ends the peers first, so that none writes to the folder while it is deleted.
  void leave(bool keep) {
    peers_.clear();
    std::error_code ignored;
    if (!keep) std::filesystem::remove_all(folder_, ignored);
    over_ = true;
  }

  bool any_running() const {
    return std::ranges::any_of(peers_, [](const auto& peer) { return peer.second->running(); });
  }

  void let_go(Time grace) {
    code_ = exit_code::failed;
    let_go_at_ = Clock::now() + grace;
    for (auto& [id, child] : peers_)
      if (child->running()) child->tell(control::line(control::Stop{}));
  }

  void watch_leash() {
    if (!let_go_at_ && silence_.length(Clock::now()) > options_.leash) let_go(options_.grace);
    if (!let_go_at_) return;
    if (!any_running()) over_ = true;
    if (Clock::now() < *let_go_at_) return;
    for (auto& [id, child] : peers_) child->kill(SIGKILL);
  }

  void ping_when_due() {
    if (Clock::now() < ping_at_) return;
    ping_at_ = Clock::now() + between_pings;
    say({});
  }

  AgentOptions options_;
  std::string folder_;
  /// Held until the agent ends. An agent that its launcher starts again on this host uses the same
  /// folder, and begins when the one before it and its peers have ended.
  Descriptor lock_;
  FileTaker files_;
  PipePair stream_;
  AgentFrameReader reader_;
  std::unique_ptr<MeasuringListener> listener_;
  std::unique_ptr<LinkMeter> meter_;
  std::future<std::vector<LinkSpeed>> measuring_;
  std::future<std::string> looking_;
  std::map<PeerId, std::unique_ptr<Child>> peers_;
  std::size_t most_vector_bytes_ = 0;  ///< limit for the vector of a report
  LeashSilence silence_;
  Clock::time_point ping_at_ = Clock::now();
  std::optional<Clock::time_point> let_go_at_;  ///< time to kill the peers after asking them to end
  int code_ = exit_code::done;
  bool over_ = false;
};

}  // namespace

int run_agent(const AgentOptions& options) {
  // scancel signals all processes of a job at once, but the launcher is to end the peers. Our
  // children inherit this; Slurm kills those that do not end in time.
  if (std::getenv("SLURM_STEP_ID") != nullptr) std::signal(SIGTERM, SIG_IGN);
  std::optional<Agent> agent;
  try {
    agent.emplace(options);
  } catch (const std::exception& wrong) {  // such as a full disk
    fmt::print("{}", agent_refusal(options.nonce, printable(wrong.what(), most_reason)));
    std::fflush(stdout);
    throw;
  }
  return agent->run();
}

}  // namespace gv
