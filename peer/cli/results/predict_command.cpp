#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/cli/command.h"
#include "peer/model/card/saved_model.h"
#include "peer/record/export/exported_run.h"

namespace gv::cli {
namespace {

constexpr std::size_t most_told = 10;

struct ForecastOptions {
  std::string model;
  std::string data;
  bool probabilities = false;
  bool json = false;
};

/// Names of the lines: a picture's file, or a row of a table, from 1.
class RowNames {
 public:
  explicit RowNames(const ModelRows& rows) : names_(rows.names) {}
  std::string_view key() const { return names_.empty() ? "row" : "file"; }
  Json json(std::size_t k) const {
    return names_.empty() ? Json(k + 1) : Json(printable(names_[k], 1000));
  }
  std::string csv(std::size_t k) const {
    return names_.empty() ? std::to_string(k + 1) : csv_word(printable(names_[k], 1000));
  }

 private:
  const std::vector<std::string>& names_;
};

/// `out`: this row's entry if it was left out.
Json answer_json(const Answer& answer,
                 const LeftOut* out,
                 const std::vector<std::string>& classes,
                 bool all) {
  if (out != nullptr && out->why.empty()) return {{"left_out", true}};
  if (out != nullptr) return {{"left_out", true}, {"why", printable(out->why, 1000)}};
  if (classes.empty()) return {{"value", answer.value}};
  Json json{{"class", classes[answer.label]}, {"probability", answer.probabilities[answer.label]}};
  if (!all) return json;
  Json each = Json::object();
  for (std::size_t k = 0; k < classes.size(); ++k) each.add(classes[k], answer.probabilities[k]);
  json["probabilities"] = each;
  return json;
}

void print_forecast_json(const ForecastOptions& options,
                         const std::vector<Answer>& found,
                         const std::vector<LeftOut>& left_out,
                         const std::vector<std::string>& classes,
                         const RowNames& names) {
  Json rows = Json::array();
  std::size_t out = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    Json row{{names.key(), names.json(k)}};
    const LeftOut* const gone = found[k].left_out ? &left_out.at(out++) : nullptr;
    row.update(answer_json(found[k], gone, classes, options.probabilities));
    rows.push_back(std::move(row));
  }
  console::print({{"schema", "grapevine.predictions/1"},
                  {"model", options.model},
                  {"data", options.data},
                  {"rows", rows}});
}

/// Writes a float as one: the shortest text that reads as it.
std::string value_text(double value) {
  const auto narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) == value) return fmt::format("{}", narrow);
  return fmt::format("{}", value);
}

std::string csv_line(const Answer& answer, const std::vector<std::string>& classes, bool all) {
  if (answer.left_out)
    return std::string(classes.empty() ? 1 : 2 + (all ? classes.size() : 0), ',');
  if (classes.empty()) return "," + value_text(answer.value);
  std::string line = fmt::format(",{},{:.6g}", csv_word(classes[answer.label]),
                                 answer.probabilities[answer.label]);
  if (all)
    for (const double probability : answer.probabilities)
      line += fmt::format(",{:.6g}", probability);
  return line;
}

void print_csv(const ForecastOptions& options,
               const std::vector<Answer>& found,
               const std::vector<std::string>& classes,
               const RowNames& names) {
  std::string head =
      fmt::format("{},{}", names.key(), classes.empty() ? "value" : "class,probability");
  if (options.probabilities)
    for (const std::string& name : classes)
      head += fmt::format(",{}", csv_word(fmt::format("p({})", name)));
  fmt::print("{}\n", head);
  for (std::size_t k = 0; k < found.size(); ++k)
    fmt::print("{}{}\n", names.csv(k), csv_line(found[k], classes, options.probabilities));
}

/// Prints why rows have no answer; returns the exit code.
int tell_left_out(const ModelRows& rows) {
  const auto wrong = [](const LeftOut& row) { return !row.why.empty(); };
  const auto faults = static_cast<std::size_t>(std::ranges::count_if(rows.left_out, wrong));
  if (const std::size_t gone = rows.left_out.size() - faults; gone > 0)
    fmt::print(stderr,
               "notice: {} of {} rows lack a value and get no answer: such rows were dropped in "
               "training\n",
               gone, rows.places.size());
  if (faults == 0) return exit_code::done;
  fmt::print(stderr, "error: {} of {} rows get no answer:\n", faults, rows.places.size());
  std::size_t told = 0;
  for (const LeftOut& row : rows.left_out)
    if (wrong(row) && told++ < most_told) fmt::print(stderr, "  {}\n", printable(row.why, 400));
  if (faults > most_told)
    fmt::print(stderr, "  and {} more: --json has the reason of each\n", faults - most_told);
  return exit_code::rows_left_out;
}

int predict(const ForecastOptions& options) {
  const SavedModel model = load_model(options.model);
  const ModelRows rows = model_rows(model.card, options.data);
  const std::vector<Answer> found = answers(model, rows);
  const std::vector<std::string> classes =
      model.card.like->classes > 0 ? class_names(*model.card.like) : std::vector<std::string>{};
  const RowNames names(rows);
  if (options.json)
    print_forecast_json(options, found, rows.left_out, classes, names);
  else
    print_csv(options, found, classes, names);
  return tell_left_out(rows);
}

void predict_options(Options& options, ForecastOptions& arguments) {
  options.value("MODEL", arguments.model, "model.safetensors of a run").required();
  options
      .value("DATA", arguments.data,
             "Rows of the model's kind: a table with its columns (the target may be missing), a "
             "picture or a folder of pictures, a LIBSVM file. A row that the model cannot process, "
             "for example because of an unknown category, gets an empty prediction, and the exit "
             "code is 7")
      .required();
  options.flag("--probabilities", arguments.probabilities, "Print the probability of every class");
  options.json(arguments.json);
}

}  // namespace

Command predict_command() {
  return command("predict", "Predict the class or value of each row with a saved model, as CSV",
                 "  grapevine predict runs/iris-ring4/model.safetensors new.csv\n"
                 "  grapevine predict model.safetensors photos/ --probabilities > answers.csv",
                 predict_options, predict);
}

}  // namespace gv::cli
