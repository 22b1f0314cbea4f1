#pragma once
#include "cuda_runtime_api.h"
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7 };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_16BF = 14 };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED };
struct HostBlas;
using cublasHandle_t = HostBlas*;
const char* cublasGetStatusString(cublasStatus_t);
cublasStatus_t cublasCreate(cublasHandle_t*);
cublasStatus_t cublasDestroy(cublasHandle_t);
cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t);
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t);
cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t);
cublasStatus_t cublasGemmEx(cublasHandle_t,
                            cublasOperation_t,
                            cublasOperation_t,
                            int m,
                            int n,
                            int k,
                            const void* alpha,
                            const void* a,
                            cudaDataType_t,
                            int lda,
                            const void* b,
                            cudaDataType_t,
                            int ldb,
                            const void* beta,
                            void* c,
                            cudaDataType_t,
                            int ldc,
                            cublasComputeType_t,
                            cublasGemmAlgo_t);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t,
                                   cublasOperation_t,
                                   cublasOperation_t,
                                   int m,
                                   int n,
                                   int k,
                                   const void* alpha,
                                   const void* const a[],
                                   cudaDataType_t,
                                   int lda,
                                   const void* const b[],
                                   cudaDataType_t,
                                   int ldb,
                                   const void* beta,
                                   void* const c[],
                                   cudaDataType_t,
                                   int ldc,
                                   int batch,
                                   cublasComputeType_t,
                                   cublasGemmAlgo_t);
