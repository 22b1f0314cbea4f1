#pragma once

#include <map>
#include <string>
#include <vector>

namespace gv {

// A fleet file on another machine: the graphs, links, model and plug-in that it names go with it,
// and its data too where it says `launch: { data: push }`. Otherwise data are looked for at the
// same absolute path, or below the folder that `hosts` names for this machine. `host`: its name
// there;
// "": a machine of which the file says nothing.

/// The files by the names that they have there: the fleet's is fleet.yaml. Throws
/// std::runtime_error with the path when one cannot be read, or when they are too many bytes.
std::map<std::string, std::string> copied_files(const std::string& fleet,
                                                const std::vector<std::string>& sets);
/// Returns where the data that the fleet names, and that are here, are looked for there, by
/// absolute paths: of each host the same in the same order.
std::vector<std::string> data_paths(const std::string& fleet,
                                    const std::vector<std::string>& sets,
                                    const std::string& host = "");
/// "--set" and its value, for those given and for each path that is another one there.
std::vector<std::string> copied_sets(const std::string& fleet,
                                     const std::vector<std::string>& sets,
                                     const std::string& host = "");

}  // namespace gv
