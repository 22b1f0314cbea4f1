#include "peer/fleet/data/data_kind.h"

namespace gv {

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
