#pragma once

#include <string>
#include <vector>

namespace gv {

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

}  // namespace gv
