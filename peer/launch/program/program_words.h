#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gv::asked {

// Protocol between a launcher and a program started with GRAPEVINE_TASK=ask or measure: one JSON
// object per line, the program's on descriptor 5, the launcher's on 4. Vectors go in both
// directions on 3 (launcher_line.h), each before its line. The end of 4 means that the launcher has
// exited.
//
//   program:  {"schema": "grapevine.program/1", ...}, with x_0    {"evaluated": number, ...}
//             {"saved": number}
//   launcher: {"evaluate": number}, with x    {"save": number, "path": ...}, with x
//             {"stop": true}

/// One tensor, as passed to gv_attach.
struct Tensor {
  std::string name{};
  std::vector<std::uint32_t> shape{};
  std::vector<std::int64_t> strides{};  ///< in elements

  bool operator==(const Tensor&) const = default;
};
/// Introduction of the program; x_0 was sent before it.
struct Introduction {
  std::vector<Tensor> parameters{};
  bool evaluates = false;     ///< the program answers `evaluate`
  std::string optimizer{};    ///< "AdamW"; "" if unknown
  std::uint64_t batches = 0;  ///< batches of its own share in an epoch; 0 if unknown
  std::map<std::string, std::string> versions{};  ///< {"torch": "2.15.0"}
  std::optional<double> seconds_per_step{};       ///< result of the task `measure`
  bool whole = false;  ///< the program answers `save`: it can write its whole model to a file
};
/// Figures of the evaluated model; empty if the evaluation failed.
struct Figures {
  std::uint64_t number = 0;  ///< number of the question
  std::optional<double> loss{};
  std::optional<double> accuracy{};  ///< 0 to 1
};
/// The program has written the file, or has failed to; its last words give the reason.
struct Saved {
  std::uint64_t number = 0;  ///< number of the question
};
using ProgramSays = std::variant<std::monostate, Introduction, Figures, Saved>;

/// Asks for an evaluation; the model was sent before it.
struct Evaluate {
  std::uint64_t number = 0;
};
/// Asks the program to write that model, with everything else it keeps besides the parameters.
struct Save {
  std::uint64_t number = 0;
  std::string path{};
};
struct Stop {};
using LauncherSays = std::variant<std::monostate, Evaluate, Save, Stop>;

/// Limits of an introduction: number of tensors, dimensions of a tensor, and floats in all.
inline constexpr std::size_t most_tensors = std::size_t{1} << 20;
inline constexpr std::size_t most_dimensions = 16;
inline constexpr std::size_t most_floats = 50'000'000'000;

/// Returns the floats of all tensors. Throws std::runtime_error if they are more than most_floats.
std::size_t floats_of(const std::vector<Tensor>& tensors);

std::string line(const Introduction& says);
std::string line(const Figures& says);
std::string line(const Saved& says);
std::string line(const Evaluate& says);
std::string line(const Save& says);
std::string line(const Stop& says);

/// Returns monostate if the line is not of this protocol. Throws std::runtime_error with the error
/// if it is not valid: names must be printable and unique.
ProgramSays parse_program(const std::string& line);
/// Returns monostate if the line is not of this protocol.
LauncherSays parse_launcher(const std::string& line);

}  // namespace gv::asked
