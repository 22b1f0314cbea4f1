#pragma once

#include <string>
#include <vector>

namespace gv {

/// Answers of a user who has no fleet file yet.
struct DraftAnswers {
  /// A table, `part-{id}.csv` for a table of each peer's own, a text (.txt), a folder of pictures
  /// or IDX files, or `digits`.
  std::string data;
  std::string target;    ///< table: the column to predict, or "" for the last one
  std::string test;      ///< table: the file of the test set, or "" for a part of the rows
  std::string machines;  ///< number of peers on this machine, or host names for `ssh`
  std::string goal;      ///< "accuracy 0.9", "loss 0.4", "1000 rounds", "20 epochs", "10 min"

  /// Returns whether each peer has a table of its own.
  bool own_parts() const { return data.find("{id}") != std::string::npos; }
};

/// Throws std::invalid_argument if the data or the test set do not exist, or do not fit together.
void check_data(const DraftAnswers& answers);

/// The statistics of a draft with own parts, next to its fleet file.
inline constexpr const char* draft_statistics = "stats.yaml";

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

}  // namespace gv
