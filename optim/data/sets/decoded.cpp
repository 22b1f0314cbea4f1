#include "optim/data/sets/decoded.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "optim/machine/cache_home.h"
#include "optim/state.h"

// File of a decoded data set, in the byte order of the machine that made it (little-endian):
//   file  := hash:u64 header_bytes:u64 header body
//   header := the state (state.h) of both sets: sizes, image, shift, scale, labels
//   body   := the bytes of the training set, then those of the test set
// hash is XXH3-64 of all that follows it. It is checked whenever the file is opened, so a damaged
// or unfinished file is not used.

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t prefix = 2 * sizeof(std::uint64_t);

/// A file mapped for reading.
struct Mapped {
  std::span<const std::uint8_t> bytes;
  std::shared_ptr<const void> keep;
};

std::optional<Mapped> map_file(const std::string& path, bool ours) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (ours ? O_NOFOLLOW : 0));
  if (fd < 0) return {};
  struct stat status {};
  const bool fine = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  const bool safe = !ours || (status.st_uid == ::geteuid() && (status.st_mode & 022) == 0);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const memory = fine && safe
                           ? ::mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0)
                           : MAP_FAILED;
  ::close(fd);
  if (memory == MAP_FAILED) return {};
  return Mapped{{static_cast<const std::uint8_t*>(memory), size},
                std::shared_ptr<const void>(memory, [size](void* m) { ::munmap(m, size); })};
}

/// Returns the name of the decoded file; none if a file cannot be read, which `decode` will report.
std::optional<std::string> name_of(const std::string& form, const std::vector<std::string>& files) {
  std::vector<std::uint64_t> hashes{XXH3_64bits(form.data(), form.size())};
  for (const std::string& path : files) {
    const std::optional<Mapped> file = map_file(path, false);
    if (!file) return {};
    hashes.push_back(XXH3_64bits(file->bytes.data(), file->bytes.size()));
  }
  const XXH128_hash_t hash = XXH3_128bits(hashes.data(), hashes.size() * sizeof(std::uint64_t));
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return std::string(text.data()) + ".decoded";
}

bool is_pictures(const Dataset& data) {
  return !data.bytes.empty() && data.floats.empty() && data.targets.empty() && !data.is_text() &&
         !data.is_sparse();
}

void save(const Dataset& data, StateWriter& out) {
  for (const std::uint32_t number : {data.rows, data.features, data.classes, data.image.channels,
                                     data.image.height, data.image.width})
    out.u64(number);
  out.u64(data.shift.size());
  out.values(data.shift);
  out.values(data.scale);
  out.values(data.labels);
}

std::uint32_t number(StateReader& in) {
  const std::uint64_t value = in.u64();
  if (value > 0xffffffffU) throw std::runtime_error("a number beyond its range");
  return static_cast<std::uint32_t>(value);
}

/// Restores everything except the bytes; `most` is the size of the file.
std::shared_ptr<Dataset> restore(StateReader& in, std::uint64_t most) {
  auto data = std::make_shared<Dataset>();
  data->rows = number(in);
  data->features = number(in);
  data->classes = number(in);
  data->image = {number(in), number(in), number(in)};
  const std::uint64_t channels = in.u64();
  if (data->rows > most || channels > most) throw std::runtime_error("more than the file holds");
  data->shift.resize(channels);
  data->scale.resize(channels);
  data->labels.resize(data->rows);
  in.values(data->shift);
  in.values(data->scale);
  in.values(data->labels);
  return data;
}

/// Takes the bytes of `data` from the front of `body`.
void take_bytes(Dataset& data, Mapped& body) {
  const std::uint64_t size = std::uint64_t{data.rows} * data.features;
  if (size > body.bytes.size()) throw std::runtime_error("more than the file holds");
  data.bytes = ByteTable(body.bytes.first(size), body.keep);
  body.bytes = body.bytes.subspan(size);
}

std::optional<TrainTest> read_decoded(const std::string& path) {
  const std::optional<Mapped> file = map_file(path, true);
  if (!file || file->bytes.size() < prefix) return {};
  std::array<std::uint64_t, 2> numbers{};
  std::memcpy(numbers.data(), file->bytes.data(), prefix);
  const auto hashed = file->bytes.subspan(sizeof(std::uint64_t));
  const auto rest = file->bytes.subspan(prefix);
  if (XXH3_64bits(hashed.data(), hashed.size()) != numbers[0] || numbers[1] > rest.size())
    return {};
  try {
    StateReader header(std::as_bytes(rest.first(numbers[1])));
    const auto train = restore(header, file->bytes.size());
    const auto test = restore(header, file->bytes.size());
    Mapped body{rest.subspan(numbers[1]), file->keep};
    take_bytes(*train, body);
    take_bytes(*test, body);
    return TrainTest{train, test};
  } catch (const std::runtime_error&) {
    return {};
  }
}

bool write_all(int fd, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = ::write(fd, at, size);
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

/// Writes under a unique name first, so that no process reads a partial file. Process ids are not
/// unique: containers that share a home have equal ones.
void write_decoded(const std::string& path, const TrainTest& data) {
  StateWriter header;
  save(*data.train, header);
  save(*data.test, header);
  const std::uint64_t header_bytes = header.bytes().size();
  XXH3_state_t hash;
  XXH3_64bits_reset(&hash);
  std::string part = path + ".XXXXXX";
  const int fd = ::mkostemp(part.data(), O_CLOEXEC);
  if (fd < 0) return;
  const std::uint64_t later = 0;
  bool fine = write_all(fd, &later, sizeof later);
  const auto put = [&](const void* bytes, std::size_t size) {
    XXH3_64bits_update(&hash, bytes, size);
    fine = fine && write_all(fd, bytes, size);
  };
  put(&header_bytes, sizeof header_bytes);
  put(header.bytes().data(), header.bytes().size());
  for (const auto& set : {data.train, data.test}) put(set->bytes.data(), set->bytes.size());
  const std::uint64_t digest = XXH3_64bits_digest(&hash);
  fine = fine && ::pwrite(fd, &digest, sizeof digest, 0) == sizeof digest;
  ::close(fd);
  std::error_code ignored;
  if (fine) fs::rename(part, path, ignored);
  fs::remove(part, ignored);
}

/// Removes files that were not used for a month.
void forget_old(const std::string& folder) {
  const auto then = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().string().find(".decoded") != std::string::npos &&
        entry.last_write_time(ignored) < then)
      fs::remove(entry.path(), ignored);
}

}  // namespace

std::string decoded_folder() {
  if (const char* own = std::getenv("GRAPEVINE_CACHE")) return own;
  const std::string home = cache_home();
  return home.empty() ? "" : home + "/data";
}

TrainTest decoded(const std::string& folder,
                  const std::string& form,
                  const std::vector<std::string>& files,
                  const std::function<TrainTest()>& decode) {
  const std::optional<std::string> name = folder.empty() ? std::nullopt : name_of(form, files);
  if (!name) return decode();
  const std::string path = folder + "/" + *name;
  std::error_code ignored;
  if (std::optional<TrainTest> known = read_decoded(path)) {
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    return *known;
  }
  TrainTest made = decode();
  if (!is_pictures(*made.train) || !is_pictures(*made.test)) return made;
  fs::create_directories(folder, ignored);
  forget_old(folder);
  write_decoded(path, made);
  const std::optional<TrainTest> kept = read_decoded(path);
  return kept ? *kept : made;
}

}  // namespace gv
