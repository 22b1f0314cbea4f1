#include "peer/fleet/keys/batch_systems.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/fleet/keys/key_words.h"

namespace gv {
namespace {

constexpr BatchSystem batch_rows[] = {
    {.name = "slurm",
     .title = "Slurm",
     .manner = "by srun inside a job of Slurm",
     .enter = "add --submit, or start it from sbatch or salloc",
     .job = "SLURM_JOB_ID",
     .nodes = "SLURM_JOB_NODELIST",
     .count = "SLURM_JOB_NUM_NODES",
     .started = "SLURM_STEP_ID",
     .list = "scontrol show hostnames {}",
     .step = "srun --nodes=1 --ntasks=1 --nodelist={} --overlap --wait=0 --kill-on-bad-exit=0 "
             "--cpu-bind=none --unbuffered --quiet"},
};

/// Replaces the name of a table by its words.
void put(std::string& text, std::string_view name, const std::string& words) {
  if (const std::size_t at = text.find(name); at != std::string::npos)
    text.replace(at, name.size(), words);
}

}  // namespace

std::span<const BatchSystem> batch_systems() {
  return batch_rows;
}

const BatchSystem* find_batch_system(std::string_view name) {
  const auto* const at = std::ranges::find(batch_rows, name, &BatchSystem::name);
  return at == std::end(batch_rows) ? nullptr : at;
}

std::vector<std::string> launcher_words() {
  std::vector<std::string> words{"auto", "local", "ssh"};
  for (const BatchSystem& row : batch_rows) words.emplace_back(row.name);
  return words;
}

std::string with_launchers(std::string_view text) {
  std::vector<std::string> words = launcher_words();
  const std::string last = words.back();
  words.pop_back();
  std::vector<std::string_view> manners;
  for (const BatchSystem& row : batch_rows) manners.push_back(row.manner);
  std::string all(text);
  put(all, "{launchers}", fmt::format("{} or {}", fmt::join(words, ", "), last));
  put(all, "{batch systems}", fmt::format("{}", fmt::join(manners, ", ")));
  return all;
}

}  // namespace gv
