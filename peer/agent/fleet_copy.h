#pragma once

#include <map>
#include <string>
#include <vector>

namespace gv {

// A fleet file on another machine: the graphs, links and model that it names go with it, and data,
// which does not travel, is looked for at the same absolute path.

/// The files by the names that they have there: the fleet's is fleet.yaml. Throws
/// std::runtime_error with the path when one cannot be read.
std::map<std::string, std::string> copied_files(const std::string& fleet,
                                                const std::vector<std::string>& sets);
/// What the data of the fleet names that is here, by absolute paths.
std::vector<std::string> data_paths(const std::string& fleet, const std::vector<std::string>& sets);
/// "--set" and its value, for those given and for each path that is another one there.
std::vector<std::string> copied_sets(const std::string& fleet,
                                     const std::vector<std::string>& sets);

}  // namespace gv
