#include <stdexcept>

#include <fmt/format.h>

#include "graph/schedule/schedule_rate.h"
#include "graph/schedules.h"
#include "peer/cli/command.h"
#include "peer/cli/graph/graph_rows.h"

namespace gv::cli {
namespace {

struct ScheduleOptions {
  std::vector<std::string> schedules;
  PeerId peers = 0;
  int samples = 4000;
  bool json = false;
};

struct Row {
  std::string name;
  ScheduleRate rate;
};

Json row_json(const Row& r) {
  const ScheduleRate& rate = r.rate;
  Json row{{"schedule", r.name}, {"period", rate.period}, {"factor_per_round", rate.per_round}};
  if (rate.period > 0) {
    row["product"] = rate.product;
  } else {
    row["kappa"] = rate.kappa;
    row["kappa_error"] = rate.kappa_error;
  }
  const double rounds = rate.rounds_to(1e-3);
  row["rounds_to_thousandth"] = rounds < 1e300 ? Json(rounds) : Json(nullptr);
  row["method"] = rate.method;
  return row;
}

void print_pairs(const std::vector<Row>& rows) {
  fmt::print("{:<22} {:>6} {:>20} {:>8} {:>7}  {}\n", "schedule", "period", "product or kappa",
             "factor", "to 1e-3", "method");
  for (const Row& r : rows) {
    const ScheduleRate& rate = r.rate;
    std::string value = fmt::format("{:.6f}", rate.period > 0 ? rate.product : rate.kappa);
    if (rate.kappa_error > 0) value += fmt::format(" +- {:.6f}", rate.kappa_error);
    fmt::print("{} {:>6} {:>20} {:>8.6f} {:>7.0f}  {}\n", name_cell(r.name),
               rate.period == 0 ? "random" : fmt::format("{}", rate.period), value, rate.per_round,
               rate.rounds_to(1e-3), rate.method);
  }
  console::print_wrapped(
      "product: second singular value of a period's product, 0: exact averaging; "
      "kappa: the expected factor of a squared disagreement; factor: of a "
      "disagreement per round; to 1e-3: rounds until a disagreement is a thousandth",
      0);
}

void report_schedule(const ScheduleOptions& o) {
  std::vector<Row> rows;
  for (const std::string& text : o.schedules) {
    const ScheduleSpec spec = parse_schedule(text);
    rows.push_back({to_string(spec), schedule_rate(*make_schedule(spec, o.peers), o.samples)});
  }
  if (!o.json) return print_pairs(rows);
  console::print({{"schema", "grapevine.graph-schedule/1"},
                  {"peers", o.peers},
                  {"rows", mapped(rows, row_json)}});
}

void print_kinds() {
  for (const ScheduleFamily* f : schedule_families()) print_family(*f);
}

int schedule(const ScheduleOptions& o) {
  if (!o.schedules.empty() && o.peers == 0)
    throw std::invalid_argument("graph schedule: needs --peers N");
  o.schedules.empty() ? print_kinds() : report_schedule(o);
  return exit_code::done;
}

void schedule_options(Options& options, ScheduleOptions& o) {
  options.value("SCHEDULE", o.schedules, "Schedules NAME[:params] (default: list all)");
  options.value("--peers", o.peers, "Number of peers").range(1, 1'000'000);
  options.value("--samples", o.samples, "Number of rounds that an estimate averages over")
      .range(4, 10'000'000)
      .show_default();
  options.json(o.json);
}

}  // namespace

Command graph_schedule_command() {
  return command("schedule", "Show how fast graphs that change every round average",
                 "  grapevine graph schedule\n"
                 "  grapevine graph schedule one-peer-exponential base:k=2 --peers 25\n"
                 "  grapevine graph schedule matcha:budget=0.5,graph=torus:4x4 --peers 16",
                 schedule_options, schedule);
}

}  // namespace gv::cli
