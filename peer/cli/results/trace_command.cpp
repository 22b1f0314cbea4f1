#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "graph/spec/parameters.h"
#include "optim/printable.h"
#include "peer/cli/command.h"
#include "peer/record/export/trace_json.h"
#include "peer/record/report/screen.h"
#include "peer/show/live/live_client.h"
#include "peer/show/live/run_finder.h"

namespace gv::cli {
namespace {

struct TraceArguments {
  std::string run;
  std::string output;
  std::string rounds;
  std::uint64_t next = 0;
  bool json = false;
};

RoundRange parse_rounds(const std::string& text) {
  if (text.empty()) return {0, std::numeric_limits<Round>::max()};
  const std::size_t dots = std::min(text.find(".."), text.size());
  const auto first = as_number<Round>(std::string_view(text).substr(0, dots));
  const auto last =
      as_number<Round>(std::string_view(text).substr(std::min(dots + 2, text.size())));
  if (first && last && *first <= *last) return {*first, *last};
  throw std::invalid_argument(
      fmt::format("--rounds {}: expected FIRST..LAST, such as 1000..1200", printable(text, 80)));
}

/// Returns whether every peer's record on this machine reaches the end of the range.
bool all_recorded(const std::string& folder, const RoundRange& range, std::size_t peers) {
  const auto has = [](const PeerMoments& peer) { return !peer.moments.empty(); };
  try {
    const std::vector<PeerMoments> read = read_moments(folder, {range.last, range.last});
    return static_cast<std::size_t>(std::ranges::count_if(read, has)) >= peers;
  } catch (const std::runtime_error&) {  // no peer has written anything yet
    return false;
  }
}

/// Orders a live run to record its next rounds, waits for them and returns their range.
RoundRange record_next(const std::string& folder, std::uint64_t rounds) {
  constexpr auto between_looks = std::chrono::milliseconds(50);
  constexpr int looks_after = 40;  // two seconds for the last file to be written
  const OrderAnswer answer =
      order_rounds(folder, fmt::format("/record?rounds={}", rounds), &RunView::record);
  const RoundRange range{answer.round, answer.last};
  ProgressLine progress;
  bool all = false;
  for (int past = 0; past < looks_after;) {
    const auto view = view_of_run(folder);
    const bool over = !view || view->phase == FleetState::Phase::ended || view->round > range.last;
    all = over && all_recorded(folder, range, view ? view->alive() : 0);
    if (all || !view) break;
    past += over;
    if (!over)
      progress.update(
          fmt::format("waiting for round {}: the slowest peer is at {}", range.last, view->round));
    std::this_thread::sleep_for(between_looks);
  }
  progress.clear();
  if (!all)
    fmt::print(stderr,
               "note: not every peer has recorded round {}: the record of a peer on another "
               "machine comes when the run ends, and that of a waiting peer may be late\n",
               range.last);
  return range;
}

int write_trace_of(const TraceArguments& arguments) {
  const std::string folder = find_run(arguments.run);
  if (arguments.next > 0 && !arguments.rounds.empty())
    throw std::invalid_argument("--next and --rounds exclude each other: give only one");
  const RoundRange range =
      arguments.next > 0 ? record_next(folder, arguments.next) : parse_rounds(arguments.rounds);
  const WrittenTrace written = write_run_trace(folder, arguments.output, range);
  const bool asked = arguments.next > 0;
  if (arguments.json) {
    console::print({{"event", "trace"},
                    {"file", arguments.output},
                    {"first", asked ? Json(range.first) : Json()},
                    {"last", asked ? Json(range.last) : Json()},
                    {"peers", written.peers},
                    {"moments", written.moments}});
  } else {
    fmt::print("{}: {} moments of {} peers{}; open it at https://ui.perfetto.dev\n",
               arguments.output, written.moments, written.peers,
               asked ? fmt::format(", rounds {} to {}", range.first, range.last) : "");
  }
  return exit_code::done;
}

void trace_options(Options& options, TraceArguments& arguments) {
  options.value("RUN", arguments.run, "Folder of a run, or its name in runs/").required();
  options
      .value("-o,--output", arguments.output, "File to write; compressed if its name ends with .gz")
      .required()
      .call_values("FILE");
  options
      .value("--rounds", arguments.rounds,
             "Range of rounds, both ends included (default: all recorded rounds)")
      .call_values("FIRST..LAST");
  options
      .value("--next", arguments.next,
             "Number of coming rounds of a live run to record in full and write")
      .call_values("N")
      .range(1, 100'000);
  options.json(arguments.json);
}

}  // namespace

Command trace_command() {
  return command("trace", "Write a timeline of each peer for Perfetto or Chrome",
                 "  grapevine trace runs/fashion-ring8 -o trace.json.gz\n"
                 "  grapevine trace runs/fashion-ring8 -o trace.json.gz --rounds 64..71\n"
                 "  grapevine trace runs/fashion-ring8 -o trace.json.gz --next 200",
                 trace_options, write_trace_of);
}

}  // namespace gv::cli
