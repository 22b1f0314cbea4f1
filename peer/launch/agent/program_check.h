#pragma once

#include <functional>
#include <string>
#include <vector>

#include "peer/launch/agent/machines.h"
#include "peer/launch/program/program_words.h"

namespace gv {

/// The course of the fleet's program on one machine when it is asked there, alone and once.
struct ProgramTrial {
  bool introduced = false;           ///< it said what it trains; then
  asked::Introduction says{};        ///< this, without parameters where they were too many
  std::string ending{};              ///< otherwise: how it ended,
  std::vector<std::string> words{};  ///< and the last lines that it printed
};

/// Starts the program of the fleet once on each machine that trains, where its peers will run, and
/// waits for what it says of itself; then it is ended. The machines have the fleet's file. `say`:
/// is told, again and again, of whom is waited for.
std::vector<ProgramTrial> try_programs(Machines& machines,
                                       const std::function<void(const std::string&)>& say);

/// Says what is wrong on the machine, and what to do; "": nothing. `here`: what the program says of
/// itself where the launcher is.
std::string program_finding(const std::string& host,
                            const ProgramSpec& program,
                            const ProgramTrial& trial,
                            const asked::Introduction& here);

/// Returns what is wrong on all machines of which there is something to say.
std::vector<std::string> program_findings(Machines& machines,
                                          const Fleet& fleet,
                                          const asked::Introduction& here,
                                          const std::function<void(const std::string&)>& say);

}  // namespace gv
