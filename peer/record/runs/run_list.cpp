#include "peer/record/runs/run_list.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>

#include "optim/printable.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

/// "runs/a" of "runs//a/" and "./runs/a".
std::string plain(const fs::path& path) {
  const std::string text = path.lexically_normal().string();
  return text.size() > 1 && text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
}

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> inside;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) inside.push_back(plain(entry.path()));
  return inside;
}

/// The run folders of an argument, by the name under which they are told of.
void add_folders(const std::string& argument, std::map<std::string, std::string>& paths) {
  const std::string folder = plain(argument);
  if (!fs::is_directory(folder))
    throw std::invalid_argument(
        printable(argument, 300) +
        ": there is no such folder\nhelp:  name the folders that run, simulate or sweep left");
  const auto add = [&](const std::string& path) {
    // One folder may be named twice, also through links.
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    auto [at, is_new] = paths.try_emplace(error ? path : real.string(), path);
    if (!is_new) at->second = std::min(at->second, path);
  };
  if (fs::is_directory(folder + "/trials")) {
    for (const std::string& trial : folders_in(folder + "/trials")) add(trial);
    return;
  }
  // `runs` itself holds the folders that are meant.
  bool any = false;
  if (!fs::exists(folder + "/run.json"))
    for (const std::string& inside : folders_in(folder))
      if (fs::exists(inside + "/run.json")) {
        add(inside);
        any = true;
      }
  if (!any) add(folder);
}

struct ReadRun {
  std::optional<StoredRun> run;
  std::string reason;
};

ReadRun read_one(const std::string& path) {
  try {
    return {read_stored_run(path), ""};
  } catch (const UnusableRun& e) {
    return {std::nullopt, e.what()};
  }
}

}  // namespace

RunList read_runs(const std::vector<std::string>& folders,
                  const std::function<void(std::size_t done, std::size_t all)>& on_progress) {
  std::map<std::string, std::string> named;
  for (const std::string& folder : folders) add_folders(folder, named);
  std::vector<std::string> paths;
  for (const auto& [real, path] : named) paths.push_back(path);
  std::ranges::sort(paths);
  std::vector<ReadRun> read;
  for (const std::string& path : paths) {
    read.push_back(read_one(path));
    on_progress(read.size(), paths.size());
  }
  RunList list;
  for (ReadRun& one : read) {
    if (!one.run)
      list.left_out.push_back(one.reason);
    else
      (one.run->tuning ? list.tuned : list.runs).push_back(std::move(*one.run));
  }
  std::ranges::sort(list.left_out);
  return list;
}

}  // namespace gv
