#include "peer/fleet/data/data_kind.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/fleet/data/data_reader.h"

namespace gv {

const DataKind& find_data_kind(const std::string& kind) {
  const std::vector<DataKind>& rows = data_kinds();
  const auto row = std::ranges::find(rows, kind, &DataKind::kind);
  if (row != rows.end()) return *row;
  if (kind == program_data().kind) return program_data();
  throw std::logic_error(fmt::format("no data are of kind `{}`", kind));
}

DataForm form_of(const DataSpec& data) {
  const DataKind& row = find_data_kind(data.kind);
  return row.form_of != nullptr ? row.form_of(data) : row.form;
}

std::string digest_text(const DataSpec& data) {
  const DataKind& row = find_data_kind(data.kind);
  std::string text;
  for (const auto& [key, value] : data.own) text += fmt::format("{} {};", key, value);
  if (row.digest != nullptr) return text + row.digest(data);
  return data.content.empty() ? text : text + fmt::format("files {};", data.content);
}

std::vector<DataKey> with_sizes(std::vector<DataKey> keys) {
  std::vector<DataKey> all{{.name = "train",
                            .takes = "samples",
                            .number = whole_number(60'000, 1, 100'000'000),
                            .help = "number of training samples to draw",
                            .example = "data: { kind: digits, train: 2000, test: 500 }",
                            .whose = "Drawn data"},
                           {.name = "test",
                            .takes = "samples",
                            .number = whole_number(10'000, 1, 100'000'000),
                            .help = "number of test samples to draw",
                            .example = "data: { kind: digits, train: 2000, test: 500 }",
                            .whose = "Drawn data"}};
  std::ranges::move(keys, std::back_inserter(all));
  return all;
}

// Each row is in the file of its name: idx_kind.cpp and so on.
DataKind idx_kind();
DataKind digits_kind();
DataKind cifar10_kind();
DataKind text_kind();
DataKind linear_kind();
DataKind quadratic_kind();
DataKind blobs_kind();
DataKind teacher_kind();
DataKind sparse_kind();
DataKind libsvm_kind();
DataKind table_kind();
DataKind images_kind();
DataKind environment_kind();

const std::vector<DataKind>& data_kinds() {
  static const std::vector<DataKind> table{
      idx_kind(),       digits_kind(), cifar10_kind(),    text_kind(),   linear_kind(),
      quadratic_kind(), blobs_kind(),  teacher_kind(),    sparse_kind(), libsvm_kind(),
      table_kind(),     images_kind(), environment_kind()};
  return table;
}

}  // namespace gv
