#include "peer/launch/life_mark.h"

#include <fstream>
#include <span>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "peer/record/disk/posix_disk.h"

namespace gv {
namespace {

constexpr std::string_view running = "running";
constexpr std::string_view done = "done";

}  // namespace

std::string LifeMark::text() const {
  std::string word;
  std::ifstream(path_) >> word;
  return word;
}

bool LifeMark::began() const {
  return text() == running;
}

bool LifeMark::finished() const {
  return text() == done;
}

void LifeMark::begin() const {
  write(std::string(running) + "\n");
}

void LifeMark::finish() const {
  write(std::string(done) + "\n");
}

void LifeMark::write(const std::string& text) const {
  const Verdict wrong = PosixDisk().write(path_, std::as_bytes(std::span(text)));
  if (!wrong.empty()) throw std::runtime_error(fmt::format("{}: {}", path_, wrong));
}

}  // namespace gv
