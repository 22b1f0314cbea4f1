#pragma once

#include <string>
#include <vector>

namespace gv {

/// Answers of a user who has no fleet file yet.
struct DraftAnswers {
  std::string data;      ///< a table, a text (.txt), a folder of pictures or IDX files, or `digits`
  std::string target;    ///< table: the column to predict, or "" for the last one
  std::string machines;  ///< number of peers on this machine, or host names for `ssh`
  std::string goal;      ///< "accuracy 0.9", "loss 0.4", "1000 rounds", "20 epochs", "10 min"
};

/// Throws std::invalid_argument if the data do not exist.
void check_data(const DraftAnswers& answers);

/// Texts of the question for a goal, once the data and machines are known.
struct GoalQuestion {
  std::string examples;  ///< example answers: "`accuracy 0.9`, `1000 rounds`"
  std::string usual;     ///< default: "10 epochs", or more for a small table
};
/// Returns the general question for unreadable data; fleet_draft reports the error.
GoalQuestion goal_question(const DraftAnswers& answers);

struct FleetDraft {
  std::string text;                    ///< text of the fleet file
  std::vector<std::string> decisions;  ///< findings about the data that the text contains
};
/// Returns a commented fleet file for the folder `folder`, to which the path of the data is
/// relative. Throws std::invalid_argument that names the answer, the error and a remedy.
FleetDraft fleet_draft(const DraftAnswers& answers, const std::string& folder);

/// Returns a line of a fleet file with its comment: after it, or above it if it would be too long.
std::string draft_line(const std::string& yaml, const std::string& comment);

/// Returns the text as YAML: a plain word unchanged, anything else in double quotes with JSON's
/// escapes.
std::string draft_word(const std::string& text);

/// Returns the path as a fleet file in `folder` writes it: relative if it lies below.
std::string draft_path(const std::string& path, const std::string& folder);

inline constexpr double held_out_percent = 20;
inline constexpr double usual_rate = 0.05;

/// Data section of a first fleet file, and the usual model for such data.
struct DataDraft {
  std::string lines;
  std::string model;
  std::string model_note;
  bool classes = true;  ///< the data have classes, so there is an accuracy
  std::string optimizer = "{ kind: sgd, lr: 0.05 }";
  std::string optimizer_note = "the learning rate is the first to tune";
  std::vector<std::string> decisions{};  ///< findings about the data, to be printed
};

/// Examines all rows of a table and decides how to treat irregular data: decimal commas, dates,
/// missing values, useless columns. `folder`: the fleet file's. Throws std::runtime_error for an
/// unreadable table, std::invalid_argument if the target is no column.
DataDraft table_draft(const DraftAnswers& answers, const std::string& folder);

}  // namespace gv
