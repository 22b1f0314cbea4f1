#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "peer/cli/command.h"
#include "peer/live/live_client.h"
#include "peer/live/run_finder.h"
#include "peer/live/top_screen.h"
#include "peer/report/screen.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {
namespace {

struct TopArguments {
  std::string run;
  bool json = false;
  bool once = false;
};

/// Redraws a block of lines in place.
class Block {
 public:
  void show(const std::string& text) {
    std::string out = lines_ > 1 ? fmt::format("\033[{}F", lines_ - 1) : "\r";
    lines_ = 1;
    for (const char c : text) {
      if (c == '\n') {
        out += "\033[K";
        ++lines_;
      }
      out += c;
    }
    fmt::print("{}\033[K\033[J", out);
    std::fflush(stdout);
  }

 private:
  std::size_t lines_ = 1;
};

/// False: Ctrl-C came in that time.
bool pause_for(std::chrono::milliseconds time) {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigaddset(&interrupts, SIGTERM);
  const timespec length{.tv_sec = time.count() / 1000, .tv_nsec = time.count() % 1000 * 1'000'000};
  return ::sigtimedwait(&interrupts, nullptr, &length) < 0;
}

void block_interrupts() {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigaddset(&interrupts, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &interrupts, nullptr);
}

/// The summary is written last, so a run that has just ended gets a moment for it.
void await_summary(const std::string& folder) {
  for (int k = 0; k < 40 && !std::filesystem::exists(folder + "/summary.json"); ++k)
    if (!pause_for(std::chrono::milliseconds(50))) return;
}

/// What its folder says once it does not answer any more.
int show_end(const std::string& folder, bool json) {
  if (json) {
    fmt::print("{}\n",
               Json{{"schema", "grapevine.live/1"}, {"folder", folder}, {"phase", "ended"}}.dump());
  } else {
    fmt::print("{}\n", end_of_run(folder));
  }
  return exit_code::done;
}

int follow(const std::string& folder, const TopArguments& arguments) {
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  const bool redraws = terminal && !arguments.json && !arguments.once;
  Block block;
  bool seen = false;
  for (;;) {
    const std::optional<RunView> view = view_of_run(folder);
    const bool ended = !view || view->phase == FleetState::Phase::ended;
    if (view && arguments.json) {
      fmt::print("{}\n", json_of(*view).dump());
      std::fflush(stdout);
    } else if (view) {
      const TerminalSize size = terminal_size(STDOUT_FILENO);
      const std::string text = top_screen(*view, size.columns, size.lines - 1);
      if (redraws) {
        block.show(text);
      } else {
        fmt::print("{}\n", text);
      }
    }
    if (ended) {
      if (seen && redraws) fmt::print("\n");
      if (seen || view) await_summary(folder);
      return show_end(folder, arguments.json);
    }
    seen = true;
    if (arguments.once || (!terminal && !arguments.json)) return exit_code::done;
    if (!pause_for(std::chrono::milliseconds(500))) {
      if (redraws) fmt::print("\n");
      return exit_code::done;
    }
  }
}

int show_top(const TopArguments& arguments) {
  block_interrupts();
  return follow(find_run(arguments.run), arguments);
}

void top_options(Options& options, TopArguments& arguments) {
  options.value("RUN", arguments.run, "A run's folder, or its name in runs/. Default: the newest");
  options.flag("--once", arguments.once, "Print the table once and leave");
  options.json(arguments.json);
}

}  // namespace

Command top_command() {
  return command("top",
                 "Watch a run that goes on: where each peer is and what it uses",
                 "  grapevine top\n"
                 "  grapevine top runs/fashion-ring8 --once\n"
                 "  grapevine top --json | jq -r '\"\\(.round) \\(.latest.loss)\"'",
                 top_options,
                 show_top);
}

}  // namespace gv::cli
