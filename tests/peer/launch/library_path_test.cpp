#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <elf.h>
#include <gtest/gtest.h>

#include "tests/places.h"
#include "tests/text_of.h"

namespace gv {
namespace {

template <class Record>
Record record_at(const std::string& file, std::size_t offset) {
  Record record{};
  if (offset + sizeof record > file.size()) throw std::out_of_range("a damaged ELF file");
  std::memcpy(&record, file.data() + offset, sizeof record);
  return record;
}

std::vector<Elf64_Shdr> sections(const std::string& file) {
  const auto head = record_at<Elf64_Ehdr>(file, 0);
  std::vector<Elf64_Shdr> all;
  for (std::size_t k = 0; k < head.e_shnum; ++k)
    all.push_back(record_at<Elf64_Shdr>(file, head.e_shoff + k * head.e_shentsize));
  return all;
}

/// The dynamic section: its entries, and the file offset of their strings.
struct Dynamic {
  std::vector<Elf64_Dyn> entries;
  std::size_t strings = 0;
};

Dynamic dynamic(const std::string& file) {
  Dynamic all;
  const std::vector<Elf64_Shdr> sections_of_file = sections(file);
  for (const Elf64_Shdr& section : sections_of_file) {
    if (section.sh_type != SHT_DYNAMIC) continue;
    all.strings = sections_of_file.at(section.sh_link).sh_offset;
    for (std::size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Dyn))
      all.entries.push_back(record_at<Elf64_Dyn>(file, section.sh_offset + at));
  }
  return all;
}

/// Returns the folders that the loader searches for a program's libraries before those of the
/// system.
std::optional<std::string> run_path(const std::string& file) {
  const Dynamic all = dynamic(file);
  for (const Elf64_Dyn& entry : all.entries)
    if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH)
      return file.c_str() + all.strings + entry.d_un.d_val;
  return {};
}

std::vector<std::string> elements(const std::string& path) {
  std::vector<std::string> all(1);
  for (const char c : path) c == ':' ? all.emplace_back() : all.back() += c;
  return all;
}

/// An empty element means the current folder, and a relative one depends on it. Anyone who can
/// write there could have their code run.
TEST(LibraryPath, NamesNoFolderThatDependsOnTheCurrentOne) {
  const std::string file = text_of(grapevine_program());
  ASSERT_TRUE(file.starts_with(ELFMAG));
  const std::optional<std::string> path = run_path(file);
  if (!path) return;  // the system's folders alone
  for (const std::string& folder : elements(*path))
    EXPECT_TRUE(folder.starts_with("/") || folder.starts_with("$ORIGIN")) << "RUNPATH " << *path;
}

/// The loader resolves library functions before the program begins, then makes them read-only.
TEST(LibraryPath, FunctionsAreLookedUpBeforeTheProgramBegins) {
  const std::string file = text_of(grapevine_program());
  bool now = false;
  for (const Elf64_Dyn& entry : dynamic(file).entries)
    now = now || (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_NOW) != 0);
  EXPECT_TRUE(now);
}

/// The program is position-independent, its stack is not executable, and memory that the loader has
/// filled in is read-only afterwards.
TEST(Hardening, OfTheProgramsLayout) {
  const std::string file = text_of(grapevine_program());
  const auto head = record_at<Elf64_Ehdr>(file, 0);
  EXPECT_EQ(head.e_type, ET_DYN) << "not position-independent";
  bool read_only = false;
  for (std::size_t k = 0; k < head.e_phnum; ++k) {
    const auto part = record_at<Elf64_Phdr>(file, head.e_phoff + k * head.e_phentsize);
    read_only = read_only || part.p_type == PT_GNU_RELRO;
    constexpr unsigned written_code = PF_W | PF_X;
    if (part.p_type == PT_GNU_STACK) {
      EXPECT_EQ(part.p_flags & PF_X, 0U) << "the stack is code";
    } else if (part.p_type == PT_LOAD) {
      EXPECT_NE(part.p_flags & written_code, written_code) << "code can be written";
    }
  }
  EXPECT_TRUE(read_only);
}

#ifdef NDEBUG
/// A buffer on the stack that overflows, or a copy that is too long, ends the process.
TEST(Hardening, OfFunctions) {
  const std::string file = text_of(grapevine_program());
  for (const char* function : {"__stack_chk_fail", "__memcpy_chk"})
    EXPECT_NE(file.find(function), std::string::npos) << function;
}

#ifdef __x86_64__
/// On processors that check indirect jumps, a function must begin with the mark where such a jump
/// lands. A large stack frame touches each of its pages, so that it cannot skip the guard page.
TEST(Hardening, OfJumpsAndLargeFrames) {
  const std::string file = text_of(grapevine_program());
  const std::string mark = "\xf3\x0f\x1e\xfa";         // endbr64
  const std::string touch("\x48\x83\x0c\x24\x00", 5);  // orq $0, (%rsp)
  std::size_t marks = 0;
  for (std::size_t at = 0; (at = file.find(mark, at)) != std::string::npos; ++at) ++marks;
  EXPECT_GT(marks, 10'000U);
  EXPECT_NE(file.find(touch), std::string::npos);
}
#endif
#endif

}  // namespace
}  // namespace gv
