#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "peer/cli/embed/program_fleet.h"
#include "peer/cli/embed/program_words.h"

namespace gv::embed {

/// The part of gv_info that changes while a peer lives.
struct ProgramState {
  Round round = 0;
  bool rejoined = false;
  std::optional<std::size_t> restored{};  ///< bytes of the program's state
  bool stopping = false;
  std::optional<PeerId> left_by{};  ///< see Report::left_by
  bool attached = false;
  std::uint16_t port = 0;
  std::size_t parameters = 0;
  std::string start{};    ///< digest of x_0
  std::string model{};    ///< digest of names and shapes
  std::string save_to{};  ///< a path; "": no file is to be written
};

/// The object that gv_info writes.
std::string info_text(const ProgramFleet& of, const OpenWords& words, const ProgramState& state);

}  // namespace gv::embed
