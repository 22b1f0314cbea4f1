#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "peer/cli/command.h"
#include "peer/launch/process/stop_signals.h"
#include "peer/record/report/screen.h"
#include "peer/show/live/live_address.h"
#include "peer/show/live/live_client.h"
#include "peer/show/live/observed_run.h"
#include "peer/show/live/run_finder.h"

namespace gv::cli {
namespace {

struct TopArguments {
  std::string run;
  std::string token;
  bool json = false;
  bool once = false;
};

/// The watched run: in a folder, or at the address of its page.
struct Watched {
  std::string folder;
  std::optional<LiveAddress> address{};
  std::string token{};

  std::optional<RunView> view() const {
    return address ? view_at(*address, token) : view_of_run(folder);
  }
};

/// Parses `127.0.0.1:8080`, or the page's address as printed by `run --serve`; else a run's folder.
Watched watched(const TopArguments& arguments) {
  constexpr std::string_view scheme = "http://";
  constexpr std::string_view query = "/?token=";
  std::string text = arguments.run;
  std::string token = arguments.token;
  const bool whole = text.starts_with(scheme);
  if (whole) text.erase(0, scheme.size());
  if (const std::size_t at = text.find(query); whole && at != std::string::npos) {
    token = text.substr(at + query.size());
    text.resize(at);
  }
  if (whole && text.ends_with('/')) text.pop_back();
  if (token.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw std::invalid_argument("top: a token consists of the digits 0-9 and a-f");
  if (whole || (is_address(text) && !std::filesystem::exists(text)))
    return {.folder = "", .address = parse_live_address(text, "top"), .token = token};
  if (!token.empty())
    throw std::invalid_argument("top: --token goes with an address, such as 127.0.0.1:8080");
  return {.folder = find_run(text)};
}

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

/// Returns false if Ctrl-C came in that time.
bool pause_for(std::chrono::milliseconds time) {
  const sigset_t interrupts = stop_signals();
  const timespec length{.tv_sec = time.count() / 1000, .tv_nsec = time.count() % 1000 * 1'000'000};
  return ::sigtimedwait(&interrupts, nullptr, &length) < 0;
}

void block_interrupts() {
  const sigset_t interrupts = stop_signals();
  ::sigprocmask(SIG_BLOCK, &interrupts, nullptr);
}

/// Waits a moment for the summary, which is written last.
void await_summary(const std::string& folder) {
  for (int k = 0; k < 40 && !std::filesystem::exists(folder + "/summary.json"); ++k)
    if (!pause_for(std::chrono::milliseconds(50))) return;
}

/// Prints the end of a run, from its folder, when it no longer answers.
int show_end(const Watched& run, bool json) {
  const std::string& folder = run.folder;
  if (run.address) {
    if (!json) fmt::print("the run at {} has ended\n", run.address->text());
  } else if (json) {
    console::print({{"schema", "grapevine.live/1"}, {"folder", folder}, {"phase", "ended"}});
  } else {
    fmt::print("{}\n", end_of_run(folder));
  }
  return exit_code::done;
}

int follow(const Watched& run, const TopArguments& arguments) {
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  const bool redraws = terminal && !arguments.json && !arguments.once;
  Block block;
  bool seen = false;
  for (;;) {
    const std::optional<RunView> view = run.view();
    const bool ended = !view || view->phase == FleetState::Phase::ended;
    if (view && arguments.json) {
      console::print(json_of(*view));
      std::fflush(stdout);
    } else if (view) {
      // Output to a pipe or a file is not cut.
      const TerminalSize size =
          terminal ? terminal_size(STDOUT_FILENO) : TerminalSize{1000, 100'000};
      const std::string text = top_screen(*view, size.columns, size.lines - 1);
      if (redraws) {
        block.show(text);
      } else {
        fmt::print("{}\n", text);
      }
    }
    if (ended) {
      if (seen && redraws) fmt::print("\n");
      if (!seen && !view && run.address)
        throw std::runtime_error(fmt::format("{}: no run listens there", run.address->text()));
      if ((seen || view) && !run.address) await_summary(run.folder);
      return show_end(run, arguments.json);
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
  return follow(watched(arguments), arguments);
}

void top_options(Options& options, TopArguments& arguments) {
  options.value("RUN", arguments.run,
                "Folder of a run, its name in runs/, or the address of its page, 127.0.0.1:PORT "
                "(default: the newest run)");
  options.value("--token", arguments.token, "Token of the page, if RUN is an address")
      .call_values("TOKEN");
  options.flag("--once", arguments.once, "Print the table once and exit");
  options.json(arguments.json);
}

}  // namespace

Command top_command() {
  return command("top", "Watch a live run: the progress of each peer and what it uses",
                 "  grapevine top\n"
                 "  grapevine top runs/fashion-ring8 --once\n"
                 "  grapevine top 127.0.0.1:8080 --token 7d92729fb33ccf3ae60f4b0e4e1b4f1f\n"
                 "  grapevine top --json | jq -r '\"\\(.round) \\(.latest.loss)\"'",
                 top_options, show_top);
}

}  // namespace gv::cli
