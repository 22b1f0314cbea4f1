#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "peer/cli/embed/grapevine_program.h"

// The symbols and needs of libgrapevine.so. It may be loaded next to other libraries of ours.

namespace gv {
namespace {

std::string library() {
  Dl_info info{};
  EXPECT_NE(::dladdr(reinterpret_cast<const void*>(&gv_abi), &info), 0);
  return info.dli_fname;
}

/// Returns the lines that a program prints about the library.
std::vector<std::string> lines_of(const std::string& program) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
      ::popen((program + " '" + library() + "'").c_str(), "r"), ::pclose);
  std::vector<std::string> lines;
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), line.size(), pipe.get()) != nullptr)
    lines.emplace_back(line.data());
  return lines;
}

TEST(Library, OnlyItsCallsComeOut) {
  const std::vector<std::string> symbols = lines_of("nm -D -g --defined-only");
  EXPECT_EQ(symbols.size(), 24U);
  for (const std::string& symbol : symbols)
    EXPECT_NE(symbol.find(" T gv_"), std::string::npos) << symbol;
}

/// The library needs no C++ library, because a program may have loaded another version.
TEST(Library, NeedsNothingOfModels) {
  for (const std::string& line : lines_of("readelf -d")) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    for (const char* not_needed : {"dnnl", "gomp", "stdc++"})
      EXPECT_EQ(line.find(not_needed), std::string::npos) << line;
  }
}

TEST(Library, IsSmall) {
#ifdef NDEBUG
  EXPECT_LT(std::filesystem::file_size(library()), 5'800'000U);
#endif
}

}  // namespace
}  // namespace gv
