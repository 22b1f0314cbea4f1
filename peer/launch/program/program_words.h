#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gv::asked {

// What a program that was started to be asked (GRAPEVINE_TASK=ask or measure) and its launcher say
// to each other: one JSON object a line, the program's on descriptor 5, the launcher's on 4,
// vectors in both directions on 3 (launcher_line.h), each before the line that is about it. The
// end of 4 means: the launcher has gone.
//   program:  {"schema": "grapevine.program/1", ...}, with x_0    {"evaluated": number, ...}
//             {"saved": number}
//   launcher: {"evaluate": number}, with x    {"save": number, "path": ...}, with x
//             {"stop": true}

/// One tensor, as gv_attach was given it.
struct Tensor {
  std::string name{};
  std::vector<std::uint32_t> shape{};
  std::vector<std::int64_t> strides{};  ///< in elements

  bool operator==(const Tensor&) const = default;
};
/// The program's introduction of itself; x_0 was sent before it.
struct Introduction {
  std::vector<Tensor> parameters{};
  bool evaluates = false;                         ///< it answers `evaluate`
  std::string optimizer{};                        ///< "AdamW"; "": it does not say
  std::uint64_t batches = 0;                      ///< of its own share, in an epoch; 0: likewise
  std::map<std::string, std::string> versions{};  ///< {"torch": "2.15.0"}
  std::optional<double> seconds_per_step{};       ///< of the task `measure`
  bool whole = false;  ///< it answers `save`: it can write all of its model to a file
};
/// The figures of the model that it was asked about; without any it could not look at it.
struct Figures {
  std::uint64_t number = 0;  ///< of the question
  std::optional<double> loss{};
  std::optional<double> accuracy{};  ///< 0 to 1
};
/// It has written the file, or cannot; its last words say why.
struct Saved {
  std::uint64_t number = 0;  ///< of the question
};
using ProgramSays = std::variant<std::monostate, Introduction, Figures, Saved>;

/// The model was sent before it.
struct Evaluate {
  std::uint64_t number = 0;
};
/// The order to write that model, with all that the program has beside the parameters.
struct Save {
  std::uint64_t number = 0;
  std::string path{};
};
struct Stop {};
using LauncherSays = std::variant<std::monostate, Evaluate, Save, Stop>;

/// The bounds of what a program says: a model has at most so many tensors of so many dimensions,
/// and so many floats in all.
inline constexpr std::size_t most_tensors = std::size_t{1} << 20;
inline constexpr std::size_t most_dimensions = 16;
inline constexpr std::size_t most_floats = 50'000'000'000;

/// Floats of all tensors. Throws std::runtime_error where they are more than most_floats.
std::size_t floats_of(const std::vector<Tensor>& tensors);

std::string line(const Introduction& says);
std::string line(const Figures& says);
std::string line(const Saved& says);
std::string line(const Evaluate& says);
std::string line(const Save& says);
std::string line(const Stop& says);

/// Throws std::runtime_error with what is wrong with the line; monostate: none of this protocol.
/// Names that are not printable, or not unique, are refused.
ProgramSays parse_program(const std::string& line);
/// monostate: not a line of this protocol.
LauncherSays parse_launcher(const std::string& line);

}  // namespace gv::asked
