#pragma once
#include "cuda_runtime_api.h"
enum cudnnStatus_t {
  CUDNN_STATUS_SUCCESS = 0,
  CUDNN_STATUS_BAD_PARAM = 2000,
  CUDNN_STATUS_NOT_SUPPORTED = 3000
};
enum cudnnDataType_t { CUDNN_DATA_FLOAT = 0, CUDNN_DATA_BFLOAT16 = 9 };
enum cudnnTensorFormat_t { CUDNN_TENSOR_NCHW };
enum cudnnConvolutionMode_t { CUDNN_CONVOLUTION, CUDNN_CROSS_CORRELATION };
enum cudnnMathType_t {
  CUDNN_DEFAULT_MATH,
  CUDNN_TENSOR_OP_MATH,
  CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION,
  CUDNN_FMA_MATH
};
enum cudnnConvolutionFwdAlgo_t {
  CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
  CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
};
enum cudnnConvolutionBwdDataAlgo_t {
  CUDNN_CONVOLUTION_BWD_DATA_ALGO_0,
  CUDNN_CONVOLUTION_BWD_DATA_ALGO_1
};
enum cudnnConvolutionBwdFilterAlgo_t {
  CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0,
  CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1
};
struct HostDnn;
struct HostTensor;
struct HostFilter;
struct HostConvolution;
using cudnnHandle_t = HostDnn*;
using cudnnTensorDescriptor_t = HostTensor*;
using cudnnFilterDescriptor_t = HostFilter*;
using cudnnConvolutionDescriptor_t = HostConvolution*;
cudnnStatus_t cudnnCreate(cudnnHandle_t*);
cudnnStatus_t cudnnDestroy(cudnnHandle_t);
cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t);
const char* cudnnGetErrorString(cudnnStatus_t);
void cudnnGetLastErrorString(char*, std::size_t);
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t*);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t);
cudnnStatus_t cudnnSetTensor4dDescriptor(
    cudnnTensorDescriptor_t, cudnnTensorFormat_t, cudnnDataType_t, int n, int c, int h, int w);
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t*);
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t);
cudnnStatus_t cudnnSetFilter4dDescriptor(
    cudnnFilterDescriptor_t, cudnnDataType_t, cudnnTensorFormat_t, int k, int c, int h, int w);
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t*);
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t);
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t,
                                              int ph,
                                              int pw,
                                              int sh,
                                              int sw,
                                              int dh,
                                              int dw,
                                              cudnnConvolutionMode_t,
                                              cudnnDataType_t);
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t);
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t,
                                                      cudnnTensorDescriptor_t,
                                                      cudnnFilterDescriptor_t,
                                                      cudnnConvolutionDescriptor_t,
                                                      cudnnTensorDescriptor_t,
                                                      cudnnConvolutionFwdAlgo_t,
                                                      std::size_t*);
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t,
                                                           cudnnFilterDescriptor_t,
                                                           cudnnTensorDescriptor_t,
                                                           cudnnConvolutionDescriptor_t,
                                                           cudnnTensorDescriptor_t,
                                                           cudnnConvolutionBwdDataAlgo_t,
                                                           std::size_t*);
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnnHandle_t,
                                                             cudnnTensorDescriptor_t,
                                                             cudnnTensorDescriptor_t,
                                                             cudnnConvolutionDescriptor_t,
                                                             cudnnFilterDescriptor_t,
                                                             cudnnConvolutionBwdFilterAlgo_t,
                                                             std::size_t*);
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t,
                                      const void* alpha,
                                      cudnnTensorDescriptor_t,
                                      const void* x,
                                      cudnnFilterDescriptor_t,
                                      const void* w,
                                      cudnnConvolutionDescriptor_t,
                                      cudnnConvolutionFwdAlgo_t,
                                      void* workspace,
                                      std::size_t,
                                      const void* beta,
                                      cudnnTensorDescriptor_t,
                                      void* y);
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t,
                                           const void* alpha,
                                           cudnnFilterDescriptor_t,
                                           const void* w,
                                           cudnnTensorDescriptor_t,
                                           const void* dy,
                                           cudnnConvolutionDescriptor_t,
                                           cudnnConvolutionBwdDataAlgo_t,
                                           void* workspace,
                                           std::size_t,
                                           const void* beta,
                                           cudnnTensorDescriptor_t,
                                           void* dx);
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t,
                                             const void* alpha,
                                             cudnnTensorDescriptor_t,
                                             const void* x,
                                             cudnnTensorDescriptor_t,
                                             const void* dy,
                                             cudnnConvolutionDescriptor_t,
                                             cudnnConvolutionBwdFilterAlgo_t,
                                             void* workspace,
                                             std::size_t,
                                             const void* beta,
                                             cudnnFilterDescriptor_t,
                                             void* dw);
