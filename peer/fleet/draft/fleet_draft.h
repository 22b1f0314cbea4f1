#pragma once

#include <string>
#include <vector>

namespace gv {

/// The answers of somebody who has no fleet file yet.
struct DraftAnswers {
  std::string data;  ///< a table, a text (.txt), a folder of pictures or of IDX files, or `digits`
  std::string target;    ///< of a table: the column to be told; "": the last one
  std::string machines;  ///< a number of peers on this machine, or names that `ssh` knows
  std::string goal;      ///< "accuracy 0.9", "loss 0.4", "1000 rounds", "20 epochs", "10 min"
};

/// Throws std::invalid_argument where there are no such data.
void check_data(const DraftAnswers& answers);

/// The way a goal is asked for, once the data and the machines are known.
struct GoalQuestion {
  std::string examples;  ///< "`accuracy 0.9`, `1000 rounds`"
  std::string usual;     ///< "10 epochs", or so many that a small table is learnt
};
/// Data that cannot be read ask as for any others: fleet_draft says what is wrong with them.
GoalQuestion goal_question(const DraftAnswers& answers);

struct FleetDraft {
  std::string text;                    ///< of the fleet file
  std::vector<std::string> decisions;  ///< what was found out about the data and is written there
};
/// A commented fleet file for the folder `folder`, from which the path of the data is written.
/// Throws std::invalid_argument that names the answer, what is wrong with it and what to say.
FleetDraft fleet_draft(const DraftAnswers& answers, const std::string& folder);

/// Returns a line of a fleet file, and why it stands there: behind it, or above it where it would
/// be too long.
std::string draft_line(const std::string& yaml, const std::string& comment);

/// Returns the text as YAML takes it: in double quotes, in which YAML takes JSON's escapes; a plain
/// word as it is.
std::string draft_word(const std::string& text);

/// Returns how the path is written in a fleet file of that folder: from there if it lies below.
std::string draft_path(const std::string& path, const std::string& folder);

inline constexpr double held_out_percent = 20;
inline constexpr double usual_rate = 0.05;

/// The lines of a first fleet file that are about its data, and the model that usually learns them.
struct DataDraft {
  std::string lines;
  std::string model;
  std::string model_note;
  bool classes = true;  ///< there is an accuracy
  std::string optimizer = "{ kind: sgd, lr: 0.05 }";
  std::string optimizer_note = "the learning rate is the first to tune";
  std::vector<std::string> decisions{};  ///< what was found out about the data, for the screen
};

/// Looks at all rows of a table and says what is to be done with what is not clean in it: decimal
/// commas, dates, missing values, columns that are of no use. `folder`: of the fleet file. Throws
/// std::runtime_error for a table that cannot be read at all, std::invalid_argument for a target
/// that is no column.
DataDraft table_draft(const DraftAnswers& answers, const std::string& folder);

}  // namespace gv
