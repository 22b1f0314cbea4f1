#include <charconv>
#include <limits>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/cli/command.h"
#include "peer/export/run_trace.h"
#include "peer/json/json.h"
#include "peer/live/run_finder.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {
namespace {

struct TraceArguments {
  std::string run;
  std::string output;
  std::string rounds;
  bool json = false;
};

bool parse_round(std::string_view text, Round& round) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), round);
  return error == std::errc{} && end == text.data() + text.size();
}

RoundRange parse_rounds(const std::string& text) {
  if (text.empty()) return {0, std::numeric_limits<Round>::max()};
  RoundRange range;
  const std::size_t dots = text.find("..");
  const bool good = dots != std::string::npos &&
                    parse_round(std::string_view(text).substr(0, dots), range.first) &&
                    parse_round(std::string_view(text).substr(dots + 2), range.last);
  if (!good || range.first > range.last)
    throw std::invalid_argument(
        fmt::format("--rounds {}: expected FIRST..LAST, such as 1000..1200", printable(text, 80)));
  return range;
}

int write_trace_of(const TraceArguments& arguments) {
  const std::string folder = find_run(arguments.run);
  const RoundRange range = parse_rounds(arguments.rounds);
  const WrittenTrace written = write_run_trace(folder, arguments.output, range);
  if (arguments.json) {
    fmt::print("{}\n",
               Json{{"event", "trace"},
                    {"file", arguments.output},
                    {"peers", written.peers},
                    {"moments", written.moments}}
                   .dump());
  } else {
    fmt::print("{}: {} moments of {} peers; open it at https://ui.perfetto.dev\n",
               arguments.output,
               written.moments,
               written.peers);
  }
  return exit_code::done;
}

void trace_options(Options& options, TraceArguments& arguments) {
  options.value("RUN", arguments.run, "A run's folder, or its name in runs/").required();
  options.value("-o,--output", arguments.output, "Compressed where the name ends with .gz")
      .required()
      .call_values("FILE");
  options.value("--rounds", arguments.rounds, "These rounds, both included. Default: all recorded")
      .call_values("FIRST..LAST");
  options.json(arguments.json);
}

}  // namespace

Command trace_command() {
  return command("trace",
                 "Write what each peer did when, as a timeline for Perfetto or Chrome",
                 "  grapevine trace runs/fashion-ring8 -o trace.json.gz\n"
                 "  grapevine trace runs/fashion-ring8 -o trace.json.gz --rounds 64..71",
                 trace_options,
                 write_trace_of);
}

}  // namespace gv::cli
