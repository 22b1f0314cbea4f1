#include <cmath>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "optim/models/objective.h"
#include "optim/printable.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/this_program.h"
#include "peer/fleet/read/sections.h"
#include "peer/launch/program/start_file.h"
#include "peer/launch/run/resume.h"
#include "peer/model/card/model_card.h"
#include "peer/model/card/saved_model.h"
#include "peer/model/tensors/tensor_file.h"
#include "peer/record/report/screen.h"

namespace gv::cli {
namespace {

/// Evaluates the model in `path`, which a fleet of programs has trained: starts the program of the
/// fleet in `options` again, alone, and asks it. `digest`: of that fleet when the run began; "" for
/// another fleet named by the user. Throws std::invalid_argument if the fleet has changed since
/// then or its program cannot evaluate, and std::runtime_error if it cannot be started.
Evaluation evaluate_by_program(const std::string& path,
                               const std::string& run_folder,
                               FleetOptions options,
                               const std::string& digest) {
  Fleet spec = read_file(options);
  if (!digest.empty()) check_again(run_folder, spec, digest);
  std::unique_ptr<Scout> scout;
  const Assembly fleet = assemble_to_run(std::move(spec), options, peer_program(), scout);
  if (!scout || !scout->introduction().evaluates)
    throw std::invalid_argument(
        about_program(fleet.fleet, "its program does not evaluate models",
                      "give `evaluate=` to DistributedOptimizer, or load the run's model.pt"));
  return scout->evaluate(read_values(path, model_of(scout->introduction(), {})));
}

namespace fs = std::filesystem;

struct EvaluateOptions {
  std::string model;
  std::string data;
  std::vector<std::string> sets;
  bool json = false;
  bool trust = false;
};

/// Data for an evaluation, with their name.
struct TestData {
  std::shared_ptr<const Dataset> set;
  std::string name;
  std::optional<bool> same;  ///< is this the test set of the model's training?
};

bool is_fleet_file(const std::string& path) {
  const std::string ending = fs::path(path).extension().string();
  return ending == ".yaml" || ending == ".yml";
}

/// Returns the test set of a fleet file. A table is normalized by its own training set's means:
/// other rows need the model's. If parts are elsewhere, the test set is here.
TestData test_of_fleet(const SavedModel& model, const FleetOptions& file) {
  const Assembly fleet = assemble_apart(file);
  const Dataset& like = *model.card.like;
  const std::shared_ptr<const Dataset> test = fleet.data.test;
  if (!test || form_of(*test) != form_of(like) || test->features != like.features ||
      test->classes != like.classes || test->vocabulary != like.vocabulary)
    throw std::invalid_argument(
        fmt::format("{}: its data have another form, size or classes than the model's `{}`; name "
                    "data that fit",
                    file.file, model.card.data));
  TestData data{.set = test, .name = file.file, .same = {}};
  data.same = data_digest(test.get()) == model.card.test_digest;
  if (*data.same) return data;
  if (fleet.fleet.data.is_table())
    throw std::invalid_argument(
        fmt::format("{}: its rows are not those that the model was tested on, and they are scaled "
                    "by other means; name the table itself: grapevine evaluate MODEL FILE.csv",
                    file.file));
  auto scaled = std::make_shared<Dataset>(*test);
  scaled->shift = like.shift;
  scaled->scale = like.scale;
  data.set = scaled;
  fmt::print(stderr, "notice: the test set of {} is not the one of the model's run\n",
             printable(file.file, 200));
  return data;
}

/// Returns the folder of the run that saved the model: the model's own, or around peers/NNN.
std::string run_folder_of(const std::string& model) {
  const fs::path folder = fs::path(model).parent_path();
  for (const fs::path& place : {folder, folder / ".." / ".."})
    if (fs::exists(place / "run.json")) return place.lexically_normal().string();
  throw std::invalid_argument(
      model +
      ": no run.json next to it names the data; name them: grapevine evaluate MODEL DATA, "
      "where DATA is a fleet file or a file of the same kind");
}

/// Returns the user's own fleet file if there is one, or else that of the run.
FleetOptions fleet_file(const EvaluateOptions& options) {
  if (!options.data.empty()) return {.file = options.data, .sets = options.sets};
  FleetOptions file = options_named_by(run_folder_of(options.model), options.trust);
  file.sets.insert(file.sets.end(), options.sets.begin(), options.sets.end());
  return file;
}

TestData test_data(const SavedModel& model, const EvaluateOptions& options) {
  if (!options.data.empty() && !is_fleet_file(options.data)) {
    if (!options.sets.empty())
      throw std::invalid_argument("--set changes a fleet file, and DATA is none");
    return {.set = labelled_data(model.card, options.data), .name = options.data, .same = {}};
  }
  return test_of_fleet(model, fleet_file(options));
}

std::string samples_text(const Dataset& data) {
  return data.is_text() ? fmt::format("{} bytes", data.evaluation_rows().size() * data.context)
                        : fmt::format("{} samples", data.rows);
}

/// Returns whether a program trained the model: only that program knows its layers and its data.
bool is_of_program(const EvaluateOptions& options) {
  const std::unique_ptr<TensorFile> file = open_tensors(options.model);
  return read_card(options.model, file->metadata()).model.kind == program_model;
}

int evaluate_program(const EvaluateOptions& options) {
  const std::unique_ptr<TensorFile> file = open_tensors(options.model);
  const ModelCard card = read_card(options.model, file->metadata());
  std::uint64_t parameters = 0;
  for (const TensorShape& tensor : file->tensors()) parameters += tensor.count();
  const bool as_it_was = options.data.empty() && options.sets.empty();
  const std::string folder = as_it_was ? run_folder_of(options.model) : "";
  const Evaluation found = evaluate_by_program(options.model, folder, fleet_file(options),
                                               as_it_was ? read_arguments(folder).digest : "");
  if (options.json) {
    console::print({{"schema", "grapevine.evaluation/1"},
                    {"model", options.model},
                    {"data", "program"},
                    {"same_test_set", Json()},
                    {"samples", Json()},
                    {"loss", found.loss},
                    {"accuracy", found.accuracy}});
  } else {
    fmt::print("model      {}, {} parameters, {} rounds of {}\n", card.model.kind, parameters,
               card.rounds, printable(card.fleet, 40));
    fmt::print("data       the program's own\n");
    fmt::print("loss       {:.6g}\n", found.loss);
    if (found.accuracy) fmt::print("accuracy   {:.4f}\n", *found.accuracy);
  }
  return std::isfinite(found.loss) ? exit_code::done : exit_code::failed;
}

int evaluate(const EvaluateOptions& given) {
  EvaluateOptions options = given;
  if (fs::is_directory(options.model)) options.model += "/model.safetensors";
  const bool by_fleet = options.data.empty() || is_fleet_file(options.data);
  if (by_fleet && is_of_program(options)) return evaluate_program(options);
  const SavedModel model = load_model(options.model);
  const TestData data = test_data(model, options);
  const Evaluation found = model.predictor()->evaluate(*data.set);
  const auto score = regression_score(data.set.get(), found.loss);
  if (options.json) {
    Json json{
        {"schema", "grapevine.evaluation/1"}, {"model", options.model},    {"data", data.name},
        {"same_test_set", data.same},         {"samples", data.set->rows}, {"loss", found.loss},
        {"accuracy", found.accuracy}};
    add_score(json, score);
    console::print(json);
  } else {
    const std::string whose =
        model.card.peer ? fmt::format("peer {} of ", *model.card.peer) : std::string();
    fmt::print("model      {}, {} parameters, {} rounds of {}{}\n", model.card.model.kind,
               model.x.size(), model.card.rounds, whose, printable(model.card.fleet, 40));
    fmt::print("data       {} of {}\n", samples_text(*data.set), printable(data.name, 200));
    fmt::print("loss       {:.6g}\n", found.loss);
    if (found.accuracy) fmt::print("accuracy   {:.4f}\n", *found.accuracy);
    if (score) fmt::print("{}\n", score_text(*score));
  }
  return std::isfinite(found.loss) ? exit_code::done : exit_code::failed;
}

void evaluate_options(Options& options, EvaluateOptions& arguments) {
  options.value("MODEL", arguments.model, "Folder of a run, or a model.safetensors").required();
  options.value(
      "DATA", arguments.data,
      "Fleet file whose test set to use, or labelled data of the model's kind: a table, a folder "
      "of pictures by class, a LIBSVM file, a text (default: the test set of the run that has the "
      "model). A model of a program is evaluated by starting the program of the fleet file again");
  options.value("--set", arguments.sets, "Override a value of the fleet file (repeatable)")
      .call_values("KEY.PATH=VALUE");
  add_trust(options, arguments.trust);
  options.json(arguments.json);
}

}  // namespace

Command evaluate_command() {
  return command("evaluate", "Compute the loss and accuracy of a saved model",
                 "  grapevine evaluate runs/iris-ring4\n"
                 "  grapevine evaluate runs/iris-ring4/model.safetensors new.csv\n"
                 "  grapevine evaluate model.safetensors configs/fashion-ring8.yaml",
                 evaluate_options, evaluate);
}

}  // namespace gv::cli
