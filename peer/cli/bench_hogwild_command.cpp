#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/cli/written_file.h"
#include "peer/fleet/json/json.h"
#include "peer/runtime/exit_code.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg_file.h"
#include "peer/study/bench/bench.h"

namespace gv::cli {
namespace {

struct HogwildArguments {
  std::vector<std::uint32_t> threads{2, 4};
  double seconds = 4;
  std::string answer;
  bool json = false;
};

void print_json(const HogwildReport& report) {
  Json rows = Json::array();
  for (const HogwildRow& r : report.rows) {
    rows.push_back({{"data", r.data},
                    {"threads", r.threads},
                    {"lock_free_steps_per_second", r.lock_free},
                    {"locked_steps_per_second", r.locked},
                    {"lock_free_speed_up", r.speed_up},
                    {"locked_speed_up", r.locked_speed_up},
                    {"lock_free_over_locked", r.over_locked},
                    {"lock_free_loss", r.loss},
                    {"locked_loss", r.locked_loss}});
  }
  fmt::print("{}\n",
             Json{{"schema", "grapevine.bench-hogwild/1"},
                  {"samples", report.samples},
                  {"features", report.features},
                  {"nonzeros", report.nonzeros},
                  {"dense_features", report.dense_features},
                  {"processors", report.processors},
                  {"rows", rows}}
                 .dump());
}

/// A column of figures, on the screen and in the table of an answer.
struct Figure {
  const char* screen;
  const char* page;  ///< "" if not in that table
  int width;
  int digits;
  double HogwildRow::*value;
};
constexpr Figure figures[] = {
    {"free/s", "steps per second", 9, 0, &HogwildRow::lock_free},
    {"speed-up", "speed-up", 8, 2, &HogwildRow::speed_up},
    {"locked/s", "with a lock", 9, 0, &HogwildRow::locked},
    {"speed-up", "speed-up", 8, 2, &HogwildRow::locked_speed_up},
    {"ratio", "", 6, 2, &HogwildRow::over_locked},
    {"loss", "loss", 7, 4, &HogwildRow::loss},
    {"locked", "with a lock", 7, 4, &HogwildRow::locked_loss},
};

void print_text(const HogwildReport& report) {
  fmt::print(
      "logistic regression, {} samples, one a step\n"
      "sparse: {} of {} features; dense: {}; free: without a lock\n",
      report.samples,
      report.nonzeros,
      report.features,
      report.dense_features);
  fmt::print("{} processors\n", report.processors);
  fmt::print("{:<7} {:>7}", "data", "threads");
  for (const Figure& figure : figures) fmt::print(" {:>{}}", figure.screen, figure.width);
  for (const HogwildRow& r : report.rows) {
    fmt::print("\n{:<7} {:>7}", r.data, r.threads);
    for (const Figure& figure : figures)
      fmt::print(" {:>{}.{}f}", r.*figure.value, figure.width, figure.digits);
  }
  fmt::print("\nloss: on the test set, after one pass from zero\n");
}

std::string markdown(const HogwildReport& report) {
  std::string text = "| data | threads |";
  std::string line = "|---|---|";
  std::string rows;
  for (const Figure& figure : figures) {
    if (*figure.page == '\0') continue;
    text += fmt::format(" {} |", figure.page);
    line += "---|";
  }
  for (const HogwildRow& r : report.rows) {
    rows += fmt::format("| {} | {} |", r.data, r.threads);
    for (const Figure& figure : figures)
      if (*figure.page != '\0') rows += fmt::format(" {:.{}f} |", r.*figure.value, figure.digits);
    rows += '\n';
  }
  return fmt::format("{}\n{}\n{}\n{} processors.\n", text, line, rows, report.processors);
}

/// Draws steps per second relative to one thread's, without a lock and with one.
std::string picture(const HogwildReport& report) {
  LinePlot plot{.x_title = "threads", .y_title = "speed-up", .points = true};
  for (const std::string_view data : {"sparse", "dense"}) {
    PlotLine free{.name = std::string(data), .series = plot.lines.size()};
    PlotLine locked{.name = fmt::format("{}, lock", data), .series = plot.lines.size() + 1};
    for (const HogwildRow& r : report.rows) {
      if (r.data != data) continue;
      free.x.push_back(r.threads);
      free.y.push_back(r.speed_up);
      locked.x.push_back(r.threads);
      locked.y.push_back(r.locked_speed_up);
    }
    plot.lines.push_back(std::move(free));
    plot.lines.push_back(std::move(locked));
  }
  return picture_file("hogwild", {{"speed-up against threads", lines_figure(plot)}});
}

int bench(const HogwildArguments& arguments) {
  const HogwildReport report = bench_hogwild(arguments.threads, arguments.seconds);
  arguments.json ? print_json(report) : print_text(report);
  if (!arguments.answer.empty()) {
    const AnswerPage page(arguments.answer, "sweep");
    page.write(markdown(report));
    page.draw(picture(report));
    fmt::print(stderr, "wrote {} and {}\n", page.page(), page.picture());
  }
  return exit_code::done;
}

void bench_options(Options& options, HogwildArguments& arguments) {
  options.json(arguments.json);
  options.list("--threads", arguments.threads, "Numbers of threads to measure, in addition to one")
      .range(1, 256);
  options.value("--seconds", arguments.seconds, "Seconds to measure")
      .range(0.1, 600.0)
      .show_default();
  options.value("--answer",
                arguments.answer,
                "Folder in whose README.md to rewrite the table between the lines `<!-- answer "
                "-->` and `<!-- end of answer -->`, and in which to draw answer.svg");
}

}  // namespace

Command bench_hogwild_command() {
  return command(
      "hogwild",
      "Measure threads that step on one shared x without a lock, against threads with a lock",
      "  grapevine bench hogwild\n  grapevine bench hogwild --threads 2,8 --json",
      bench_options,
      bench);
}

}  // namespace gv::cli
