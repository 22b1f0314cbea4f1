#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "gossip/steps/attack.h"
#include "peer/fleet/fleet_setup.h"
#include "peer/fleet/read/sections.h"

namespace gv {
namespace {

constexpr const char* command_help =
    "write its words as a list, such as `program: [python3, train.py]`";

class ProgramReader {
 public:
  explicit ProgramReader(Source& source) : source_(source) {}

  ProgramSpec read(const Value& value) {
    if (value.kind != Value::Kind::map) {
      read_command(&value, value);
    } else {
      MapReader map(source_, &value, "program");
      read_command(map.take("command"), value);
      if (const Value* env = map.take("env", "none")) read_env(*env);
      map.finish();
    }
    return std::move(program_);
  }

 private:
  /// Reads a list of words: without a shell, a line is not split into words.
  void read_command(const Value* value, const Value& at) {
    const bool list = value != nullptr && value->kind == Value::Kind::sequence;
    if (!list || value->items.empty())
      return source_.error(value != nullptr ? *value : at, "a program is a list of words",
                           command_help);
    for (const Value& item : value->items)
      program_.command.push_back(read_word(source_, item).value_or(""));
    if (program_.command.front().empty() && source_.diagnostics().empty())
      source_.error(value->items.front(), "a program has no name", command_help);
  }

  void read_env(const Value& value) {
    if (value.kind == Value::Kind::scalar && value.text == "torchrun") {
      program_.env = torchrun_env();
      return;
    }
    if (value.kind != Value::Kind::map)
      return source_.error(value, "expected names and values under `program.env`, or `torchrun`",
                           "write such as `env: { OMP_NUM_THREADS: 4 }`");
    for (const Value::Entry& entry : value.entries) {
      if (!is_name(entry.key))
        source_.error(entry.place, static_cast<int>(entry.key.size()),
                      fmt::format("`{}` is no name of a variable", entry.key),
                      "write letters, digits and _, and no digit at its beginning");
      if (entry.key.starts_with("GRAPEVINE_"))
        source_.error(entry.place, static_cast<int>(entry.key.size()),
                      fmt::format("`{}` is reserved: a peer sets it for its program", entry.key),
                      "take another name");
      program_.env[entry.key] = read_word(source_, entry.value).value_or("");
    }
  }

  static bool is_name(const std::string& word) {
    const auto part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) == 0 &&
           std::ranges::all_of(word, part);
  }

  Source& source_;
  ProgramSpec program_;
};

/// Reports other keys of the file that have no meaning with `program`.
class ProgramChecks {
 public:
  ProgramChecks(Source& source, const Value& root, const Fleet& fleet)
      : source_(source), root_(root), fleet_(fleet), program_(*root.find("program")) {}

  void check() {
    check_model();
    refuse(root_.find("data", "kind"), "`data.kind`", "the program has its own data");
    refuse(root_.find("data", "servers"), "`data.servers`", "the program has its own samples");
    if (fleet_.servers == 0)
      refuse(root_.find("train", "optimizer"), "`train.optimizer`",
             "the program has its own optimizer");
    if (fleet_.class_weights.any())
      refuse(root_.find("train", "class_weights"), "`train.class_weights`",
             "the program has its own loss");
    if (fleet_.by_samples)
      refuse(root_.find("train", "peer_weights"), "`train.peer_weights`",
             "the program has its own gradients");
    check_word();
    check_epochs();
    check_method();
  }

 private:
  void refuse(const Value::Entry* other, const std::string& what, const std::string& brings) {
    if (other == nullptr) return;
    source_.conflict(program_, *other,
                     fmt::format("{} cannot be combined with `program`: {}", what, brings),
                     fmt::format("remove `{}`, or `program` if this is to train", other->key));
  }

  /// Refuses a model, which the program brings, except for `start`: names, shapes and first values.
  void check_model() {
    const Value::Entry* const model = root_.find("model");
    if (model == nullptr) return;
    const auto is_start = [](const Value::Entry& e) { return e.key == "start"; };
    const bool map = model->value.kind == Value::Kind::map;
    if (!map || !std::ranges::all_of(model->value.entries, is_start))
      refuse(model, "`model`", "the program has its own model");
  }

  /// Refuses `data: digits`, short for its kind.
  void check_word() {
    const Value::Entry* const data = root_.find("data");
    if (data != nullptr && data->value.kind == Value::Kind::scalar)
      refuse(data, "`data`", "the program has its own data");
  }

  void check_epochs() {
    if (fleet_.data.train > 0) return;
    constexpr const char* why = "only the program knows how many samples an epoch has";
    constexpr const char* help = "write `data: { samples: 60000 }`, or rounds";
    if (fleet_.stop.epochs) source_.error(root_.find("stop", "epochs")->value, why, help);
    if (fleet_.evaluate_every_epochs)
      source_.error(root_.find("evaluate", "every")->value, why, help);
  }

  void check_method() {
    const Value::Entry* const algorithm = root_.find("algorithm");
    const AlgorithmRow* const row = find_algorithm(fleet_.algorithm, fleet_.order);
    if (algorithm != nullptr && row != nullptr)
      if (const std::string why = objection_to_program(*row, setup_of(fleet_)); !why.empty())
        source_.error(algorithm->value, why);
    const Value::Entry* const kind = root_.find("attackers", "kind");
    if (kind != nullptr && fleet_.attackers.count > 0 &&
        attack_of(setup_of(fleet_)).gradient != nullptr)
      refuse(kind, "an attack by false gradients", "the program has its own gradients");
  }

  Source& source_;
  const Value& root_;
  const Fleet& fleet_;
  const Value::Entry& program_;
};

}  // namespace

const std::map<std::string, std::string>& torchrun_env() {
  static const std::map<std::string, std::string> names{{"RANK", "{rank}"},
                                                        {"WORLD_SIZE", "{world_size}"},
                                                        {"LOCAL_RANK", "{local_rank}"},
                                                        {"LOCAL_WORLD_SIZE", "{local_world_size}"},
                                                        {"MASTER_ADDR", "{master_addr}"},
                                                        {"MASTER_PORT", "{master_port}"}};
  return names;
}

std::optional<ProgramSpec> read_program(Source& source, const Value* value) {
  if (value == nullptr) return std::nullopt;
  return ProgramReader(source).read(*value);
}

void check_program(Source& source, const Value& root, const Fleet& fleet) {
  if (fleet.program) ProgramChecks(source, root, fleet).check();
}

std::string about_program(const Fleet& fleet, const std::string& message, const std::string& help) {
  Source source(fleet.path);
  const Value root = source.parse_file();
  const Value::Entry* const program = root.find("program");
  if (program == nullptr || !source.diagnostics().empty())
    return fmt::format("{}\n  --> {}\nhelp:  {}", message, fleet.path, help);
  source.error(program->place, static_cast<int>(program->key.size()), message, help);
  const Diagnostic& d = source.diagnostics().front();
  return fmt::format("{}\n  --> {}\n{}= help: {}", d.message, d.where, d.source, d.help);
}

}  // namespace gv
