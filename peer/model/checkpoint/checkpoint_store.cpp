#include "peer/model/checkpoint/checkpoint_store.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "optim/check.h"

namespace gv {
namespace {

constexpr std::string_view temporary_suffix = ".tmp";

std::string name_of(Round round) {
  return fmt::format("{:08}.ckpt", round);
}

/// Returns the round of a file that carries the very name that we would give it.
std::optional<Round> round_of(const std::string& name) {
  Round round = 0;
  std::from_chars(name.data(), name.data() + name.size(), round);
  return name == name_of(round) ? std::optional(round) : std::nullopt;
}

bool is_left_over(const std::string& name) {
  return name.ends_with(temporary_suffix) &&
         round_of(name.substr(0, name.size() - temporary_suffix.size()));
}

Verdict about(const std::string& path, const Verdict& verdict) {
  return verdict.empty() ? "" : fmt::format("{}: {}", path, verdict);
}

}  // namespace

CheckpointStore::CheckpointStore(Disk& disk,
                                 std::string folder,
                                 std::string fleet,
                                 std::string model,
                                 PeerId peer,
                                 std::size_t keep)
    : disk_(disk),
      folder_(std::move(folder)),
      fleet_(std::move(fleet)),
      model_(std::move(model)),
      peer_(peer),
      keep_(keep) {
  GV_CHECK(keep >= 1, "at least the newest checkpoint is kept");
}

std::string CheckpointStore::path_of(Round round) const {
  return folder_ + "/" + name_of(round);
}

Verdict CheckpointStore::save(Round round, std::vector<std::byte> state, bool alone) {
  const std::lock_guard lock(mutex_);
  if (Verdict wrong = disk_.make_folder(folder_); !wrong.empty()) return about(folder_, wrong);
  remove_left_over();
  const std::string path = path_of(round);
  const std::string temporary = path + std::string(temporary_suffix);
  if (Verdict wrong = write(temporary, {fleet_, model_, peer_, round, std::move(state)});
      !wrong.empty()) {
    (void)disk_.remove(temporary);  // perhaps it was not even made
    return about(temporary, wrong);
  }
  if (Verdict wrong = disk_.sync_folder(folder_); !wrong.empty()) return about(path, wrong);
  newest_ = round;
  if (next_ && !alone && !candidate_ && round >= *next_) candidate_ = round;
  remove_old();
  return "";
}

void CheckpointStore::hold(Round round, Round next) {
  const std::lock_guard lock(mutex_);
  held_ = round;
  next_ = next;
  candidate_.reset();
  if (newest_ > 0) remove_old();
}

std::optional<Round> CheckpointStore::candidate() const {
  const std::lock_guard lock(mutex_);
  return candidate_;
}

/// Content before name: the name must never stand for bytes that power loss may take.
Verdict CheckpointStore::write(const std::string& temporary, const Checkpoint& checkpoint) {
  if (Verdict wrong = disk_.write(temporary, encode(checkpoint)); !wrong.empty()) return wrong;
  if (Verdict wrong = disk_.sync(temporary); !wrong.empty()) return wrong;
  return disk_.rename(temporary, path_of(checkpoint.round));
}

std::optional<Checkpoint> CheckpointStore::newest(std::vector<std::string>& skipped) {
  std::vector<Round> rounds;
  if (Verdict wrong = files(rounds); !wrong.empty()) skipped.push_back(wrong);
  for (const Round round : rounds) {
    Checkpoint checkpoint;
    Verdict wrong = at(round, checkpoint);
    if (wrong.empty()) return checkpoint;
    skipped.push_back(std::move(wrong));
  }
  return std::nullopt;
}

Verdict CheckpointStore::at(Round round, Checkpoint& out) {
  const std::string path = path_of(round);
  std::vector<std::byte> bytes;
  if (Verdict wrong = disk_.read(path, bytes); !wrong.empty()) return about(path, wrong);
  Checkpoint found;
  if (Verdict wrong = decode(bytes, found); !wrong.empty()) return about(path, wrong);
  if (found.fleet != fleet_)
    return about(path, fmt::format("of fleet {}, ours is {}", found.fleet, fleet_));
  if (found.model != model_)
    return about(path, fmt::format("of model {}, ours is {}", found.model, model_));
  if (found.peer != peer_)
    return about(path, fmt::format("of peer {}, we are peer {}", found.peer, peer_));
  if (found.round != round)
    return about(path, fmt::format("of round {}, not of the round in its name", found.round));
  out = std::move(found);
  return "";
}

std::vector<Round> CheckpointStore::rounds() {
  std::vector<Round> all;
  if (!files(all).empty()) return {};
  std::erase_if(all, [this](Round round) {
    Checkpoint unused;
    return !at(round, unused).empty();
  });
  std::ranges::reverse(all);
  return all;
}

Verdict CheckpointStore::drop_after(Round round) {
  std::vector<Round> rounds;
  if (Verdict wrong = files(rounds); !wrong.empty()) return wrong;
  std::erase_if(rounds, [round](Round other) { return other <= round; });
  if (rounds.empty()) return "";
  for (const Round newer : rounds) {
    if (Verdict wrong = disk_.remove(path_of(newer)); !wrong.empty())
      return about(path_of(newer), wrong);
  }
  return about(folder_, disk_.sync_folder(folder_));
}

/// Lists them by name only, the newest first.
Verdict CheckpointStore::files(std::vector<Round>& rounds) {
  std::vector<std::string> names;
  if (Verdict wrong = disk_.list(folder_, names); !wrong.empty()) return about(folder_, wrong);
  for (const std::string& name : names)
    if (const auto round = round_of(name)) rounds.push_back(*round);
  std::ranges::sort(rounds, std::greater{});
  return "";
}

/// Temporary files of a process that died: on a full disk they would keep the place that we need.
void CheckpointStore::remove_left_over() {
  std::vector<std::string> names;
  if (!disk_.list(folder_, names).empty()) return;
  for (const std::string& name : names)
    if (is_left_over(name)) (void)disk_.remove(folder_ + "/" + name);
}

/// One that cannot be removed is no failure of the one just saved; the next save tries again. A
/// step above it is not counted: somebody else's, or of a course that was left.
void CheckpointStore::remove_old() {
  std::vector<Round> rounds;
  if (!files(rounds).empty()) return;
  std::erase_if(rounds, [this](Round round) { return round > newest_; });
  for (std::size_t k = keep_; k < rounds.size(); ++k)
    if (rounds[k] != held_ && rounds[k] != candidate_) (void)disk_.remove(path_of(rounds[k]));
}

}  // namespace gv
