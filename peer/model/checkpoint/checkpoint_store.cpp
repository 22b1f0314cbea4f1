#include "peer/model/checkpoint/checkpoint_store.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "optim/check.h"

static_assert(std::endian::native == std::endian::little,
              "checkpoints hold the little-endian numbers of memory");

namespace gv {
namespace {

struct Head {
  std::uint64_t magic = checkpoint_magic;
  std::uint32_t version = checkpoint_version;
  std::uint32_t peer = 0;
  std::uint64_t round = 0;
  std::uint32_t fleet_bytes = 0;
  std::uint32_t model_bytes = 0;
  std::uint64_t state_bytes = 0;
};
static_assert(sizeof(Head) == checkpoint_head_bytes, "no padding");
static_assert(std::has_unique_object_representations_v<Head>, "no padding");

XXH128_canonical_t check_of(std::span<const std::byte> bytes) {
  XXH128_canonical_t check;
  XXH128_canonicalFromHash(&check, XXH3_128bits(bytes.data(), bytes.size()));
  return check;
}
static_assert(sizeof(XXH128_canonical_t) == checkpoint_check_bytes);

/// Copies the bytes and returns the address after them.
std::byte* put(std::byte* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return to + bytes;
}

/// Returns whether all parts have `bytes` bytes in total; computes no sum of lengths that could
/// wrap.
bool fill(const Head& head, std::size_t bytes) {
  const std::uint64_t fixed = checkpoint_head_bytes + checkpoint_check_bytes +
                              std::uint64_t{head.fleet_bytes} + head.model_bytes;
  return fixed <= bytes && head.state_bytes == bytes - fixed;
}

constexpr std::string_view temporary_suffix = ".tmp";

std::string name_of(Round round) {
  return fmt::format("{:08}.ckpt", round);
}

/// Returns the round of a file whose name is exactly the one that we would give it.
std::optional<Round> round_of(const std::string& name) {
  Round round = 0;
  std::from_chars(name.data(), name.data() + name.size(), round);
  return name == name_of(round) ? std::optional(round) : std::nullopt;
}

bool is_left_over(const std::string& name) {
  return name.ends_with(temporary_suffix) &&
         round_of(name.substr(0, name.size() - temporary_suffix.size()));
}

Verdict verdict_about(const std::string& path, const Verdict& verdict) {
  return verdict.empty() ? "" : fmt::format("{}: {}", path, verdict);
}

Verdict objection(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return "";
  if (S_ISLNK(found.st_mode))
    return fmt::format(
        "{}: is a link, and checkpoints are not kept through links\nhelp:  put the folder itself "
        "there, or name another one with --set output.dir=PATH",
        path);
  if (S_ISDIR(found.st_mode) && (found.st_mode & S_IWOTH) != 0)
    return fmt::format(
        "{0}: every user may write there (mode {1:04o}) and change what this peer resumes "
        "from\nhelp: "
        " "
        "chmod o-w {0}, and look at what is in it",
        path, found.st_mode & 07777);
  return "";
}

}  // namespace

std::vector<std::byte> encode(const Checkpoint& checkpoint) {
  Head head;
  head.peer = checkpoint.peer;
  head.round = checkpoint.round;
  head.fleet_bytes = static_cast<std::uint32_t>(checkpoint.fleet.size());
  head.model_bytes = static_cast<std::uint32_t>(checkpoint.model.size());
  head.state_bytes = checkpoint.state.size();
  std::vector<std::byte> bytes(checkpoint_head_bytes + checkpoint.fleet.size() +
                               checkpoint.model.size() + checkpoint.state.size() +
                               checkpoint_check_bytes);
  std::byte* end = put(bytes.data(), &head, sizeof head);
  end = put(end, checkpoint.fleet.data(), checkpoint.fleet.size());
  end = put(end, checkpoint.model.data(), checkpoint.model.size());
  end = put(end, checkpoint.state.data(), checkpoint.state.size());
  const XXH128_canonical_t check = check_of(std::span(bytes).first(bytes.size() - sizeof check));
  put(end, &check, sizeof check);
  return bytes;
}

Verdict decode(std::span<const std::byte> bytes, Checkpoint& out) {
  Head head;
  if (bytes.size() < checkpoint_head_bytes + checkpoint_check_bytes) return "truncated";
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != checkpoint_magic) return "not a checkpoint";
  if (head.version != checkpoint_version)
    return fmt::format("format version {}, ours is {}", head.version, checkpoint_version);
  if (!fill(head, bytes.size())) return "truncated, or longer than its header announces";
  const auto checked = bytes.first(bytes.size() - checkpoint_check_bytes);
  const XXH128_canonical_t check = check_of(checked);
  if (std::memcmp(&check, bytes.data() + checked.size(), sizeof check) != 0)
    return "damaged: its checksum does not agree";
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + checkpoint_head_bytes;
  out.fleet.assign(text, head.fleet_bytes);
  out.model.assign(text + head.fleet_bytes, head.model_bytes);
  out.peer = head.peer;
  out.round = head.round;
  const auto state = checked.last(head.state_bytes);
  out.state.assign(state.begin(), state.end());
  return "";
}

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
  if (Verdict wrong = disk_.make_folder(folder_); !wrong.empty())
    return verdict_about(folder_, wrong);
  remove_left_over();
  const std::string path = path_of(round);
  const std::string temporary = path + std::string(temporary_suffix);
  if (Verdict wrong = write(temporary, {fleet_, model_, peer_, round, std::move(state)});
      !wrong.empty()) {
    (void)disk_.remove(temporary);  // may not exist
    return verdict_about(temporary, wrong);
  }
  if (Verdict wrong = disk_.sync_folder(folder_); !wrong.empty()) return verdict_about(path, wrong);
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

/// Writes the content before the name, which must never refer to bytes that power loss may take.
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
  if (Verdict wrong = disk_.read(path, bytes); !wrong.empty()) return verdict_about(path, wrong);
  Checkpoint found;
  if (Verdict wrong = decode(bytes, found); !wrong.empty()) return verdict_about(path, wrong);
  if (found.fleet != fleet_)
    return verdict_about(path, fmt::format("of fleet {}, ours is {}", found.fleet, fleet_));
  if (found.model != model_)
    return verdict_about(path, fmt::format("of model {}, ours is {}", found.model, model_));
  if (found.peer != peer_)
    return verdict_about(path, fmt::format("of peer {}, we are peer {}", found.peer, peer_));
  if (found.round != round)
    return verdict_about(path,
                         fmt::format("of round {}, not of the round in its name", found.round));
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
      return verdict_about(path_of(newer), wrong);
  }
  return verdict_about(folder_, disk_.sync_folder(folder_));
}

/// Lists checkpoints by name only, the newest first.
Verdict CheckpointStore::files(std::vector<Round>& rounds) {
  std::vector<std::string> names;
  if (Verdict wrong = disk_.list(folder_, names); !wrong.empty())
    return verdict_about(folder_, wrong);
  for (const std::string& name : names)
    if (const auto round = round_of(name)) rounds.push_back(*round);
  std::ranges::sort(rounds, std::greater{});
  return "";
}

/// Removes temporary files of a process that died: on a full disk they take the space that we need.
void CheckpointStore::remove_left_over() {
  std::vector<std::string> names;
  if (!disk_.list(folder_, names).empty()) return;
  for (const std::string& name : names)
    if (is_left_over(name)) (void)disk_.remove(folder_ + "/" + name);
}

/// A failed removal is not an error of the save; the next save retries. Rounds above the newest
/// save are not counted: they are from another process or from an abandoned course.
void CheckpointStore::remove_old() {
  std::vector<Round> rounds;
  if (!files(rounds).empty()) return;
  std::erase_if(rounds, [this](Round round) { return round > newest_; });
  for (std::size_t k = keep_; k < rounds.size(); ++k)
    if (rounds[k] != held_ && rounds[k] != candidate_) (void)disk_.remove(path_of(rounds[k]));
}

Verdict folder_objection(const std::string& folder) {
  Verdict wrong = objection(folder);
  return wrong.empty() ? objection(folder + "/checkpoints") : wrong;
}

}  // namespace gv
