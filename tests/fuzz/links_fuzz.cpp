// A file of links, as `links: { file: lan.links.yaml }` names it.
#include "optim/check.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/read/sections.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gv::fuzz::Files files;
  static const std::vector<std::string> hosts{"a", "a", "b", "c"};
  files.write("lan.links.yaml", gv::fuzz::Input(data, size).text());
  gv::Source source("fleet.yaml");
  const gv::Value links = source.parse_text("file: lan.links.yaml");
  const gv::NetworkSpec network = gv::read_network(source, nullptr, &links, hosts, files.folder());
  for (const auto& [pair, link] : network.links)
    GV_CHECK(pair.first < pair.second && pair.second < hosts.size(), "a link of two peers");
  return 0;
}
