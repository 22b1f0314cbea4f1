// Messages of an agent about its machine and the data there, and the files that it returns.
#include <filesystem>
#include <stdexcept>

#include "optim/check.h"
#include "peer/launch/agent/facts/data_look.h"
#include "peer/launch/agent/facts/facts.h"
#include "peer/launch/agent/transport/agent_frame.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

namespace gv {
namespace {

void read_facts(const std::string& text) {
  const std::string said = facts_text(parse_facts(text));
  GV_CHECK(facts_text(parse_facts(said)) == said, "the same again");
}

/// Receives files in pieces of a few hundred bytes; the disk may take 1,000 bytes.
void take_files(fuzz::Input& input) {
  namespace fs = std::filesystem;
  constexpr std::size_t most = 1000;
  static const fuzz::Files files;
  const fs::path inside = fs::path(files.folder()) / "inside";
  fs::remove_all(inside);
  fs::create_directory(inside);
  files.write("outside", "as it was");
  fs::create_symlink("../outside", inside / "link");
  FileTaker taker(
      inside.string(), [](const std::string&) { return true; }, most);
  const auto check = [&] {
    GV_CHECK_EQUAL(fs::file_size(fs::path(files.folder()) / "outside"), 9U, "nothing went out");
    GV_CHECK_EQUAL(std::distance(fs::directory_iterator(files.folder()), {}), 2, "nor anew");
  };
  try {
    while (!input.empty()) taker.take(std::string(input.text(std::size_t{input.byte()} * 2)));
  } catch (const std::runtime_error& e) {
    fuzz::check_refusal(e);
  }
  check();
  const std::string look = look_text({inside.string(), files.folder() + "/none"}, files.folder());
  GV_CHECK(parse_look(look, 2).data.front().has_value(), "what came is seen as it lies there");
}

}  // namespace
}  // namespace gv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  const std::size_t which = input.below(3);
  if (which == 0) {
    gv::take_files(input);
    return 0;
  }
  const std::string text(input.text());
  try {
    which == 1 ? gv::read_facts(text) : void(gv::parse_look(text, 2));
  } catch (const std::exception& e) {
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
