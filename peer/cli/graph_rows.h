#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "graph/modes.h"
#include "graph/spectrum.h"

namespace gv::cli {

/// What `graph report` says about one topology.
struct GraphRow {
  Topology topology;
  std::string weights;
  std::size_t degree_min = 0, degree_max = 0;
  std::optional<std::int64_t> diameter;  ///< -1 when not connected; none when too large to find
  bool connected = false;
  Spectrum spectrum;
  std::optional<Estimate> s1_lian, s1_atc, n_eff;
  double seconds = 0;  ///< that the spectrum took
};

/// One object of the JSON document; `more`: with conductance, mixing time and transients.
nlohmann::ordered_json to_json(const GraphRow& row, bool more);

/// The same as a table on stdout.
void print_table(const std::vector<GraphRow>& rows, double discount, bool more);

}  // namespace gv::cli
