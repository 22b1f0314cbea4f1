#include <omp.h>

#include "optim/host/slices.h"

// Separate from the slices, which are also in programs without oneDNN and OpenMP.

namespace gv {

void keep_library_on_this_thread() {
  omp_set_num_threads(1);
}

}  // namespace gv
