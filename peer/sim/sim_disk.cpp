#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "peer/sim/trial.h"

namespace gv {
namespace {

Verdict error(std::errc code) {
  return std::make_error_code(code).message();
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::uint64_t pages_bytes(std::size_t bytes) {
  return (bytes + SimDisk::page_bytes - 1) / SimDisk::page_bytes * SimDisk::page_bytes;
}

/// Copies from[begin, end) to the same place in `to`, as far as `from` goes.
void copy_page(const std::vector<std::byte>& from,
               std::vector<std::byte>& to,
               std::size_t begin,
               std::size_t end) {
  for (std::size_t k = begin; k < std::min(end, from.size()); ++k) to[k] = from[k];
}

/// Upper limit of disk operations per save.
constexpr std::uint64_t operations = 8;

}  // namespace

std::uint64_t SimDisk::used_bytes() const {
  std::uint64_t used = 0;
  for (const auto& [path, file] : cached_) used += pages_bytes(file->cached.size());
  return used;
}

void SimDisk::fail_after(std::uint64_t n, bool partly) {
  failure_in_ = n;
  partly_ = partly;
}

/// Begins an operation; returns its error, or an empty text.
Verdict SimDisk::begin() {
  if (power_left_ && *power_left_ == 0) return error(std::errc::io_error);
  if (power_left_) --*power_left_;
  if (!failure_in_ || (*failure_in_)-- > 0) return "";
  failure_in_.reset();
  return error(std::errc::io_error);
}

Verdict SimDisk::write(const std::string& path, std::span<const std::byte> bytes) {
  Verdict failure = begin();
  if (!failure.empty() && !std::exchange(partly_, false)) return failure;
  if (!folders_.contains(folder_of(path))) return error(std::errc::no_such_file_or_directory);
  const auto [at, made] = cached_.try_emplace(path);
  if (made) {
    at->second = std::make_shared<File>();
    changes_.push_back({folder_of(path), "", path, at->second});
  }
  File& file = *at->second;
  file.cached.clear();
  file.synced = false;
  const std::uint64_t used = used_bytes();
  const std::uint64_t room = capacity_ > used ? capacity_ - used : 0;
  const std::uint64_t wanted = failure.empty() ? bytes.size() : bytes.size() / 2;
  const auto stored = bytes.first(static_cast<std::size_t>(std::min(wanted, room)));
  file.cached.assign(stored.begin(), stored.end());
  if (!failure.empty()) return failure;
  return stored.size() < bytes.size() ? error(std::errc::no_space_on_device) : "";
}

Verdict SimDisk::sync(const std::string& path) {
  if (Verdict failure = begin(); !failure.empty()) return failure;
  const auto at = cached_.find(path);
  if (at == cached_.end()) return error(std::errc::no_such_file_or_directory);
  at->second->durable = at->second->cached;
  at->second->synced = true;
  return "";
}

Verdict SimDisk::rename(const std::string& from, const std::string& to) {
  if (Verdict failure = begin(); !failure.empty()) return failure;
  const auto at = cached_.find(from);
  if (at == cached_.end()) return error(std::errc::no_such_file_or_directory);
  change({folder_of(from), from, to, at->second});
  return "";
}

Verdict SimDisk::remove(const std::string& path) {
  if (Verdict failure = begin(); !failure.empty()) return failure;
  if (!cached_.contains(path)) return error(std::errc::no_such_file_or_directory);
  change({folder_of(path), path, "", nullptr});
  return "";
}

Verdict SimDisk::sync_folder(const std::string& folder) {
  if (Verdict failure = begin(); !failure.empty()) return failure;
  if (!folders_.contains(folder)) return error(std::errc::no_such_file_or_directory);
  for (const Change& c : changes_)
    if (c.folder == folder) apply(c, durable_);
  std::erase_if(changes_, [&](const Change& c) { return c.folder == folder; });
  return "";
}

Verdict SimDisk::list(const std::string& folder, std::vector<std::string>& names) {
  names.clear();
  if (Verdict failure = begin(); !failure.empty()) return failure;
  for (const auto& [path, file] : cached_)
    if (folder_of(path) == folder) names.push_back(path.substr(path.rfind('/') + 1));
  return "";
}

Verdict SimDisk::read(const std::string& path, std::vector<std::byte>& bytes) {
  bytes.clear();
  if (Verdict failure = begin(); !failure.empty()) return failure;
  const auto at = cached_.find(path);
  if (at == cached_.end()) return error(std::errc::no_such_file_or_directory);
  bytes = at->second->cached;
  return "";
}

Verdict SimDisk::make_folder(const std::string& folder) {
  if (Verdict failure = begin(); !failure.empty()) return failure;
  for (std::string path = folder; folders_.insert(path).second;) path = folder_of(path);
  return "";
}

void SimDisk::change(Change c) {
  apply(c, cached_);
  changes_.push_back(std::move(c));
}

void SimDisk::apply(const Change& c, Names& names) {
  if (!c.removed.empty()) names.erase(c.removed);
  if (!c.added.empty()) names[c.added] = c.file;
}

void SimDisk::crash(std::uint64_t seed) {
  Rng rng = Rng(seed).derive("crash");
  for (const Change& c : changes_)
    if (rng.below(2) == 0) apply(c, durable_);
  changes_.clear();
  for (const auto& [path, file] : durable_) settle(*file, rng);
  cached_ = durable_;
  power_left_.reset();
  failure_in_.reset();
  partly_ = false;
}

void SimDisk::settle(File& file, Rng& rng) {
  if (!file.synced) {
    const std::size_t shorter = std::min(file.durable.size(), file.cached.size());
    const std::size_t longer = std::max(file.durable.size(), file.cached.size());
    Bytes found(rng.below(2) == 0 ? file.cached.size() : shorter + rng.below(longer - shorter + 1));
    for (std::size_t begin = 0; begin < found.size(); begin += page_bytes) {
      const std::size_t end = std::min(begin + page_bytes, found.size());
      const std::uint64_t fate = rng.below(4);  // 2: the page stays zero
      if (fate == 0) copy_page(file.durable, found, begin, end);
      if (fate == 1) copy_page(file.cached, found, begin, end);
      if (fate == 3)
        for (std::size_t k = begin; k < end; ++k) found[k] = static_cast<std::byte>(rng.bits());
    }
    file.durable = std::move(found);
    file.synced = true;
  }
  file.cached = file.durable;
}

SimCheckpointStore::Saved SimCheckpointStore::save(Round round,
                                                   std::vector<std::byte> state,
                                                   FaultInjector& injector) {
  const bool torn = std::exchange(torn_, false);
  if (torn) disk_.lose_power_after(injector.below(operations));
  const bool full = full_for_ > 0;
  if (full) {
    --full_for_;
    disk_.set_capacity(disk_.used_bytes() + injector.below(state.size() + 100));
  }
  const bool saved = store_.save(round, std::move(state)).empty();
  if (full) disk_.set_capacity(SimDisk::unlimited);
  if (saved) acknowledged_ = round;
  if (torn) return Saved::torn;
  return saved ? Saved::yes : Saved::no;
}

void SimCheckpointStore::lose_power(FaultInjector& injector) {
  disk_.crash(injector.below(1U << 30));
}

std::optional<Checkpoint> SimCheckpointStore::load(std::vector<std::string>& violations) {
  std::vector<std::string> skipped;
  std::optional<Checkpoint> past = store_.newest(skipped);
  if (acknowledged_ && (!past || past->round < *acknowledged_))
    violations.push_back(fmt::format("a checkpoint of round {} was acknowledged, and {} is loaded",
                                     *acknowledged_,
                                     past ? fmt::format("that of {}", past->round) : "none"));
  return past;
}

}  // namespace gv
