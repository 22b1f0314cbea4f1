#include "tests/tidy/comments.h"

#include <gtest/gtest.h>

#include "tests/places.h"

namespace gv::tidy {
namespace {

TEST(Comments, AFragmentIsAClauseWithoutASentence) {
  const File file{
      "a.h",
      {"/// Of a round.", "int a();", "/// Returns whether it is so.", "bool b();",
       "  /// What a stage sends", "  /// ahead; null: nothing.", "int c();",
       "/// Where nobody waits, it ends.", "void d();", "int e;  ///< of a round",
       "/// The same for", "/// programs.", "/// The place of a peer.", "// Of a round."}};
  EXPECT_EQ(fragments(file),
            (Findings{"a.h:1: Of a round. ", "a.h:5: What a stage sends ahead; null: nothing. ",
                      "a.h:11: The same for programs. The place of a peer. "}));
  EXPECT_EQ(doc_comments({file}), 5U);
}

/// Comments must begin with a sentence that strangers understand.
TEST(Comments, OfTheTreeBeginWithSentences) {
  const std::vector<File> tree = read_tree(source_folder());
  EXPECT_GT(doc_comments(tree), 5000U);
  std::string all;
  std::size_t count = 0;
  for (const File& file : tree)
    for (const std::string& finding : fragments(file)) {
      all += finding + "\n";
      ++count;
    }
  EXPECT_LT(count, 100U) << all;
}

}  // namespace
}  // namespace gv::tidy
