#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optim/data/table/table_plan.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/agent/facts/data_look.h"
#include "peer/launch/agent/facts/facts.h"

namespace gv {

/// Offer of a machine that joins a lobby, with what it does not allow.
struct MachineOffer {
  std::string name;  ///< letters, digits and dashes, at most 40
  HostFacts facts{};
  unsigned cores = 0;              ///< cores that the peers may use
  std::uint64_t memory_bytes = 0;  ///< limit of each process, or the machine's memory
  bool program = true;             ///< code that the fleet file names may run here
  double gflops = 0;               ///< measured: float32 products on one core
  std::vector<DeviceFacts> devices{};
  std::string data{};         ///< path of the machine's own part of the data, or ""
  std::string data_folder{};  ///< folder there in which that part gets the fleet file's names
  std::vector<std::string> columns{};  ///< names of the columns of that part, if it is a CSV file
};

std::string offer_text(const MachineOffer& offer);
/// Throws std::exception if the text is no offer, or if it exceeds a bound.
MachineOffer parse_offer(const JsonValue& json);

/// Returns this machine's offer; measures for a fifth of a second. `data`: path of the machine's
/// own part, or "". Throws std::invalid_argument if that file cannot be read.
MachineOffer own_offer(const std::string& data);

/// Returns the names of the first 1,000 columns of a `.csv` file, as parse_offer returns them.
/// Returns none for other files, or if the file cannot be read.
std::vector<std::string> csv_columns(const std::string& path);

/// Orders a machine to give its part of a table these relative names, and to read it.
Json part_order(const std::vector<std::string>& names, const TableSpec& table);
/// Reads a part as its peer will, with files in `folder`. Throws std::exception "path:line: why".
void check_part(const JsonValue& order, const std::string& path, const std::string& folder);

std::string host_name();  ///< this machine's, without its domain; "" if it has none
/// Returns a name of letters, digits and dashes made of any text, "machine" if nothing is left.
std::string machine_name(const std::string& text);

}  // namespace gv
