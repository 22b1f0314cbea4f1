#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "peer/study/compare/comparison.h"

namespace gv {

/// A group as every figure of a report shows it.
struct GroupView {
  const Contender* contender = nullptr;
  std::string name;        ///< without what its row says
  std::size_t series = 0;  ///< the same for the same name in every row

  const RunGroup& group() const { return *contender->group; }
};

/// Groups that are drawn together: those of one network, say.
struct GroupRow {
  std::string name;  ///< "latency 5 ms, bandwidth 100 Mbit"; empty where there is one row
  std::vector<GroupView> groups;
};

/// A row for each section of the comparison.
std::vector<GroupRow> group_rows(const Comparison& comparison);

/// Returns what to tell sections apart by where nobody says it: the network, when groups differ in
/// it and in something else; else nothing.
std::vector<std::string> usual_rows(const RunTable& table);

}  // namespace gv
