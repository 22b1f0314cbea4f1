#include <omp.h>

#include "optim/host/slices.h"

// Apart from the slices, which are in programs without oneDNN and OpenMP too.

namespace gv {

void keep_library_on_this_thread() {
  omp_set_num_threads(1);
}

}  // namespace gv
