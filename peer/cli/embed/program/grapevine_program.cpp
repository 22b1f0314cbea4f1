#include "peer/cli/embed/grapevine_program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "peer/cli/embed/calls/call_arguments.h"
#include "peer/cli/embed/calls/fault.h"
#include "peer/cli/embed/program/program.h"
#include "peer/cli/embed/program/program_virtual_peer.h"

using gv::embed::Fault;

struct gv_simulation {
  std::shared_ptr<gv::embed::ProgramSimulation> simulation;
};

struct gv_peer {
  explicit gv_peer(std::unique_ptr<gv::embed::Program> made) : program(std::move(made)) {}

  std::thread::id owner = std::this_thread::get_id();
  ::pid_t process = ::getpid();
  std::vector<int> of_a_child;  ///< descriptors for a forked child to close
  std::unique_ptr<gv::embed::Program> program;
};

namespace {

constexpr std::uint64_t most_state_bytes = std::uint64_t{16} << 30;

std::string& last_error() {
  static thread_local std::string text;
  return text;
}

int failed(int code, const char* text) noexcept {
  try {
    last_error() = text;
  } catch (...) {
    last_error().clear();  // no memory for the reason
  }
  return code;
}

/// Returns what f returns, or the code of what it throws.
template <class F>
int guarded(F f) noexcept {
  try {
    return f();
  } catch (const Fault& fault) {
    return failed(fault.code, fault.what());
  } catch (const std::bad_alloc&) {
    return failed(GV_E_FAILED, "there is not enough memory");
  } catch (const std::exception& e) {
    return failed(GV_E_FAILED, e.what());
  } catch (...) {
    return failed(GV_E_FAILED, "something unknown went wrong");
  }
}

void need(bool given, const char* what) {
  if (!given) throw Fault(GV_E_USE, what);
}

/// Guards calls that any thread of the peer's own process may make.
template <class F>
int anywhere(const gv_peer* peer, F f) noexcept {
  return guarded([&] {
    need(peer != nullptr, "the peer is NULL");
    if (peer->process != ::getpid())
      throw Fault(
          GV_E_FORKED,
          fmt::format("this process is a child of process {}, which is the peer", peer->process));
    return f();
  });
}

/// Guards calls that only the peer's own thread may make.
template <class F>
int at_home(const gv_peer* peer, F f) noexcept {
  return anywhere(peer, [&] {
    if (peer->owner != std::this_thread::get_id())
      throw Fault(GV_E_THREAD,
                  "this is not the thread that called gv_open: all calls of a peer must come from "
                  "that thread");
    return f();
  });
}

void give_rows(const std::vector<std::uint32_t>& own, std::uint32_t* rows, std::size_t* count) {
  const std::size_t room = *count;
  *count = own.size();
  if (rows == nullptr) return;
  if (room < own.size())
    throw Fault(GV_E_ROOM, fmt::format("{} rows, and there is room for {}", own.size(), room));
  std::ranges::copy(own, rows);
}

void write_text(const std::string& text, char* json, std::size_t room) {
  if (text.size() >= room)
    throw Fault(GV_E_ROOM,
                fmt::format("{} bytes, and there is room for {}", text.size() + 1, room));
  std::memcpy(json, text.c_str(), text.size() + 1);
}

void give_restored(gv::embed::Program& program, void* data, std::size_t* bytes) {
  const std::string& state = program.restored();
  const std::size_t room = *bytes;
  *bytes = state.size();
  if (data == nullptr) return;
  if (room < state.size())
    throw Fault(GV_E_ROOM, fmt::format("{} bytes, and there is room for {}", state.size(), room));
  if (!state.empty()) std::memcpy(data, state.data(), state.size());
  program.take_restored();
}

}  // namespace

int gv_abi(void) {
  return GV_ABI;
}

int gv_open(const char* json, gv_peer** peer) {
  return guarded([&] {
    need(peer != nullptr, "gv_open: there is no place for the peer");
    *peer = nullptr;
    const auto environment = [](const char* name) { return std::getenv(name); };
    *peer = new gv_peer(gv::embed::make_program(gv::embed::open_words(json, environment)));
    return GV_OK;
  });
}

int gv_info(const gv_peer* peer, char* json, size_t room) {
  return at_home(peer, [&] {
    need(json != nullptr, "gv_info: there is no room");
    write_text(peer->program->info(), json, room);
    return GV_OK;
  });
}

int gv_rows(gv_peer* peer, const int32_t* labels, size_t n, uint32_t* rows, size_t* count) {
  return at_home(peer, [&] {
    need(count != nullptr, "gv_rows: there is no place for the count");
    const std::span<const std::int32_t> known(labels, labels == nullptr ? 0 : n);
    give_rows(peer->program->rows(known, n), rows, count);
    return GV_OK;
  });
}

int gv_attach(gv_peer* peer, const gv_tensor* tensors, size_t n, const char* json) {
  return at_home(peer, [&] {
    need(tensors != nullptr || n == 0, "gv_attach: there are no tensors");
    return int{peer->program->attach({tensors, n}, gv::embed::attach_words(json))};
  });
}

int gv_begin(gv_peer* peer, const char* addresses_json) {
  return at_home(peer, [&] {
    peer->program->begin(addresses_json);
    return GV_OK;
  });
}

int gv_turn(gv_peer* peer, const gv_told* done, int timeout_ms) {
  return at_home(peer, [&] { return static_cast<int>(peer->program->turn(done, timeout_ms)); });
}

int gv_point(gv_peer* peer, int what, void* const* data, size_t n) {
  return at_home(peer, [&] {
    need(what == GV_POINT_PARAMETERS || what == GV_POINT_GRADIENTS,
         "gv_point: `what` is GV_POINT_PARAMETERS or GV_POINT_GRADIENTS");
    if (data == nullptr) {
      need(what == GV_POINT_GRADIENTS, "gv_point: x is always somewhere");
      peer->program->forget_gradients();
    } else {
      peer->program->point(what, {data, n});
    }
    return GV_OK;
  });
}

int gv_state(gv_peer* peer, int give, void* data, size_t* bytes) {
  return at_home(peer, [&] {
    need(bytes != nullptr, "gv_state: there is no place for the length");
    if (give == 0) {
      give_restored(*peer->program, data, bytes);
      return GV_OK;
    }
    need(data != nullptr || *bytes == 0, "gv_state: there is no state");
    if (*bytes > most_state_bytes)
      throw Fault(GV_E_USE,
                  fmt::format("gv_state: {} bytes, and {} are the most: keep large things in "
                              "files of the program's own",
                              *bytes, most_state_bytes));
    peer->program->give_state({static_cast<const char*>(data), *bytes});
    return GV_OK;
  });
}

int gv_say(gv_peer* peer, const char* json) {
  return anywhere(peer, [&] {
    peer->program->say(gv::embed::say_words(json));
    return GV_OK;
  });
}

int gv_verb(gv_peer* peer, const gv_call* call, void* data, size_t bytes, int timeout_ms) {
  return at_home(peer, [&] {
    need(call != nullptr, "gv_verb: there is no call");
    need(data != nullptr || bytes == 0, "gv_verb: there are no data");
    return peer->program->verb(*call, {static_cast<std::byte*>(data), bytes}, timeout_ms);
  });
}

int gv_push(gv_peer* peer, const gv_call* call, const void* data, size_t bytes, uint64_t* handle) {
  return at_home(peer, [&] {
    need(call != nullptr && handle != nullptr, "gv_push: there is no call, or no handle");
    need(data != nullptr || bytes == 0, "gv_push: there are no data");
    const auto* const first = static_cast<const std::byte*>(data);
    *handle = peer->program->push(*call, {first, first + bytes});
    return GV_OK;
  });
}

int gv_pull(gv_peer* peer, const gv_call* call, size_t bytes, uint64_t* handle) {
  return at_home(peer, [&] {
    need(call != nullptr && handle != nullptr, "gv_pull: there is no call, or no handle");
    *handle = peer->program->pull(*call, bytes);
    return GV_OK;
  });
}

int gv_wait(gv_peer* peer, uint64_t handle, void* data, size_t bytes, int timeout_ms) {
  return at_home(peer, [&] {
    need(data != nullptr || bytes == 0, "gv_wait: there is no place for the data");
    return peer->program->wait(handle, {static_cast<std::byte*>(data), bytes}, timeout_ms);
  });
}

int gv_fork(gv_peer* peer, int phase) {
  if (peer != nullptr && phase == GV_FORK_CHILD) {
    for (const int descriptor : peer->of_a_child) ::close(descriptor);
    peer->of_a_child.clear();
    return GV_OK;
  }
  return anywhere(peer, [&] {
    need(phase == GV_FORK_BEFORE || phase == GV_FORK_PARENT,
         "gv_fork: `phase` is GV_FORK_BEFORE, GV_FORK_PARENT or GV_FORK_CHILD");
    if (phase == GV_FORK_BEFORE)
      peer->of_a_child = peer->program->pause();
    else
      peer->program->go_on();
    return GV_OK;
  });
}

int gv_finish(gv_peer* peer, int timeout_ms) {
  return at_home(peer, [&] { return peer->program->finish(timeout_ms) ? GV_OK : GV_MORE; });
}

const char* gv_error(const gv_peer*) {
  return last_error().c_str();
}

void gv_close(gv_peer* peer) {
  if (peer == nullptr || peer->process != ::getpid()) return;
  guarded([&] {
    delete peer;
    return GV_OK;
  });
}

int gv_simulate(const char* json, gv_simulation** simulation) {
  return guarded([&] {
    need(simulation != nullptr, "gv_simulate: there is no place for the simulation");
    *simulation = nullptr;
    *simulation = new gv_simulation{
        std::make_shared<gv::embed::ProgramSimulation>(gv::embed::simulation_words(json))};
    return GV_OK;
  });
}

int gv_simulated(gv_simulation* simulation, const char* json, gv_peer** peer) {
  return guarded([&] {
    need(simulation != nullptr && peer != nullptr, "gv_simulated: an argument is NULL");
    *peer = nullptr;
    *peer = new gv_peer(
        gv::embed::make_virtual_peer(simulation->simulation, gv::embed::virtual_peer_words(json)));
    return GV_OK;
  });
}

int gv_simulation_wait(gv_simulation* simulation, int stop, int timeout_ms) {
  return guarded([&] {
    need(simulation != nullptr, "gv_simulation_wait: the simulation is NULL");
    if (stop != 0) simulation->simulation->stop();
    const bool over = simulation->simulation->over(gv::embed::time_of(timeout_ms));
    return over ? GV_OK : GV_MORE;
  });
}

int gv_simulation_info(gv_simulation* simulation, char* json, size_t room) {
  return guarded([&] {
    need(simulation != nullptr && json != nullptr, "gv_simulation_info: an argument is NULL");
    write_text(simulation->simulation->info(), json, room);
    return GV_OK;
  });
}

void gv_simulation_close(gv_simulation* simulation) {
  if (simulation == nullptr) return;
  guarded([&] {
    simulation->simulation->abandon();
    delete simulation;
    return GV_OK;
  });
}

void gv_turn_ended(void* peer) {
  anywhere(static_cast<gv_peer*>(peer), [&] {
    static_cast<gv_peer*>(peer)->program->end_turn();
    return GV_OK;
  });
}
