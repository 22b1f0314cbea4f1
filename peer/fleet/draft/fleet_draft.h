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

}  // namespace gv
