#include "optim/data/set_apart.h"

#include <algorithm>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "optim/data/sets/text.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

using Sample = std::vector<float>;

/// Returns the features and target of each row, as a multiset of samples.
std::multiset<Sample> samples_of(const Dataset& data) {
  std::multiset<Sample> samples;
  for (std::uint32_t r = 0; r < data.rows; ++r) {
    Sample sample(data.features);
    if (data.is_sparse()) {
      const SparseSample row = data.sparse.row(r);
      for (std::size_t k = 0; k < row.columns.size(); ++k) sample[row.columns[k]] = row.values[k];
    } else {
      data.gather(std::vector{r}, sample);
    }
    sample.push_back(data.labels.empty() ? data.targets[r] : static_cast<float>(data.labels[r]));
    samples.insert(std::move(sample));
  }
  return samples;
}

void expect_divided(const Dataset& train, const char* what) {
  const TrainValidation apart = set_apart(train, 0.25, Rng(3));
  EXPECT_EQ(apart.validation->rows, train.rows / 4) << what;
  std::multiset<Sample> both = samples_of(*apart.train);
  both.merge(samples_of(*apart.validation));
  EXPECT_EQ(both, samples_of(train)) << what;
  EXPECT_EQ(apart.train->features, train.features) << what;
  EXPECT_EQ(apart.validation->classes, train.classes) << what;
  EXPECT_NE(samples_of(*set_apart(train, 0.25, Rng(4)).validation), samples_of(*apart.validation))
      << what;
}

TEST(SetApart, GivesEverySampleToOneOfBoth) {
  expect_divided(*make_blobs(80, 4, 5, 3, 1, Rng(1)).train, "rows");
  expect_divided(*make_linear(80, 4, 5, 0.1, Rng(1)).train, "targets");
  expect_divided(*draw_sparse(80, 4, 30, 4, 0.1, Rng(1)).train, "sparse");
  expect_divided(*draw_digits(80, 4, Rng(1)).train, "pictures");
}

/// Overlapping windows would put the validation set into the training set.
TEST(SetApart, TakesTheEndOfAText) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/text.txt";
  std::ofstream(path) << std::string(500, 'a') + std::string(500, 'b');
  const TrainTest text = read_text(path, 8);
  const TrainValidation apart = set_apart(*text.train, 0.2, Rng(1));
  std::vector<std::uint8_t> joined = apart.train->tokens;
  joined.insert(joined.end(), apart.validation->tokens.begin(), apart.validation->tokens.end());
  EXPECT_EQ(joined, text.train->tokens);
  EXPECT_EQ(apart.validation->tokens.size(), 180U);
  EXPECT_EQ(apart.validation->rows, 180U - 8);
  EXPECT_THROW(set_apart(*text.train, 0.001, Rng(1)), std::runtime_error);
}

TEST(SetApart, RefusesASingleSample) {
  EXPECT_THROW(set_apart(*make_blobs(1, 1, 2, 2, 1, Rng(1)).train, 0.5, Rng(1)),
               std::runtime_error);
}

}  // namespace
}  // namespace gv
