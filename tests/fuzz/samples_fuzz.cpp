// Training samples from another process, in each of the four forms of data.
#include <array>
#include <cstring>

#include "optim/check.h"
#include "optim/data/packed.h"
#include "tests/fuzz/fuzz_input.h"

namespace gv {
namespace {

Dataset like(std::size_t form) {
  Dataset data;
  data.rows = 4;
  data.features = 6;
  data.classes = 3;
  data.labels = {0, 1, 2, 0};
  switch (form) {
    case 0:
      data.bytes = ByteTable(std::vector<std::uint8_t>(24, 5));
      data.image = {1, 2, 3};
      break;
    case 1:
      data.classes = 0;
      data.labels.clear();
      data.targets.assign(4, 1);
      data.floats.assign(24, 0.5F);
      break;
    case 2:
      data.classes = 2;
      data.labels = {0, 1, 1, 0};
      data.sparse = {.ends = {1, 2, 3, 4}, .columns = {0, 1, 2, 5}, .values = {1, 2, 3, 4}};
      break;
    default:
      data.vocabulary = {'a', 'b', 'c'};
      data.labels.clear();
      data.features = data.context = 2;
      data.tokens = {0, 1, 2, 0, 1, 2};
      break;
  }
  return data;
}

void check(const Unpacked& got, const Dataset& wanted) {
  const Dataset& data = got.data;
  GV_CHECK(data.features == wanted.features && data.classes == wanted.classes, "the same shape");
  GV_CHECK(got.views.empty() || got.views.size() == got.rows.size(), "a view for each, or none");
  for (const std::uint32_t row : got.rows) GV_CHECK(row < data.rows, "a row that there is");
  for (const std::uint8_t label : data.labels) GV_CHECK(label < data.classes, "a class");
  for (const std::uint32_t column : data.sparse.columns)
    GV_CHECK(column < data.features, "a column that there is");
  if (data.is_text()) {
    std::vector<std::uint8_t> inputs(got.rows.size() * data.context), targets(inputs.size());
    data.gather_windows(got.rows, inputs, targets);
    for (const std::uint8_t token : inputs) GV_CHECK(token < wanted.vocabulary.size(), "a token");
    for (const std::uint8_t token : targets) GV_CHECK(token < wanted.vocabulary.size(), "a token");
  } else if (data.is_sparse()) {
    for (const std::uint32_t row : got.rows) data.sparse.row(row);
  } else {
    std::vector<float> features(got.rows.size() * data.features);
    data.gather(got.rows, got.views, features);
  }
}

}  // namespace
}  // namespace gv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array<gv::Dataset, 4> forms{gv::like(0), gv::like(1), gv::like(2), gv::like(3)};
  gv::fuzz::Input input(data, size);
  const gv::Dataset& wanted = forms[input.below(forms.size())];
  const auto bytes = input.rest();
  gv::Buffer packed(bytes.size());
  if (!bytes.empty()) std::memcpy(packed.data(), bytes.data(), bytes.size());
  if (const auto got = gv::unpack(packed, wanted)) gv::check(*got, wanted);
  return 0;
}
