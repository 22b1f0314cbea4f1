#include "optim/host/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include "optim/check.h"

namespace gv {

void gemm(bool transpose_a,
          bool transpose_b,
          int m,
          int n,
          int k,
          float alpha,
          const float* a,
          int lda,
          const float* b,
          int ldb,
          float beta,
          float* c,
          int ldc) {
  const dnnl_status_t status = dnnl_sgemm(transpose_a ? 'T' : 'N',
                                          transpose_b ? 'T' : 'N',
                                          m,
                                          n,
                                          k,
                                          alpha,
                                          a,
                                          lda,
                                          b,
                                          ldb,
                                          beta,
                                          c,
                                          ldc);
  GV_CHECK(status == dnnl_success, "dnnl_sgemm accepts the shapes");
}

}  // namespace gv
