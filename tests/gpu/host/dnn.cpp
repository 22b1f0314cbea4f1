// The convolutions of cuDNN, by their definition. They overwrite the workspace, as the library may.
#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda_bf16.h"
#include "cudnn.h"
#include "tests/gpu/host/host_cuda.h"
#include "tests/gpu/host/streams.h"
#include "tests/gpu/host/watch.h"

struct HostDnn {
  cudaStream_t stream = nullptr;
};
struct HostTensor {
  cudnnDataType_t type;
  int n, c, h, w;
};
struct HostFilter {
  cudnnDataType_t type;
  int k, c, h, w;
};
struct HostConvolution {
  int ph, pw, sh, sw;
  cudnnMathType_t math;
};

namespace {

using std::size_t;

size_t product_of(int a, int b, int c, int d) {
  return static_cast<size_t>(a) * static_cast<size_t>(b) * static_cast<size_t>(c) *
         static_cast<size_t>(d);
}
size_t count(const HostTensor& t) {
  return product_of(t.n, t.c, t.h, t.w);
}
size_t count(const HostFilter& f) {
  return product_of(f.k, f.c, f.h, f.w);
}

size_t bytes_of(cudnnDataType_t type, size_t n) {
  return n * (type == CUDNN_DATA_BFLOAT16 ? 2 : 4);
}

/// Returns a tensor's values as the products read them.
std::vector<float> read(const void* from, cudnnDataType_t type, size_t n, cudnnMathType_t math) {
  gv::host_cuda::note_read(from, bytes_of(type, n));
  std::vector<float> values(n);
  for (size_t k = 0; k < n; ++k) {
    if (type == CUDNN_DATA_BFLOAT16)
      values[k] = __bfloat162float(static_cast<const __nv_bfloat16*>(from)[k]);
    else
      values[k] = static_cast<const float*>(from)[k];
    if (type == CUDNN_DATA_FLOAT && math != CUDNN_FMA_MATH) values[k] = gv_host_tf32(values[k]);
  }
  return values;
}

void write(void* to, cudnnDataType_t type, const std::vector<float>& values, float old) {
  if (old != 0) gv::host_cuda::note_read(to, bytes_of(type, values.size()));
  gv::host_cuda::note_write(to, bytes_of(type, values.size()));
  for (size_t k = 0; k < values.size(); ++k) {
    if (type == CUDNN_DATA_FLOAT) {
      float& at = static_cast<float*>(to)[k];
      at = old == 0 ? values[k] : values[k] + old * at;
    } else {
      __nv_bfloat16& at = static_cast<__nv_bfloat16*>(to)[k];
      at = __float2bfloat16_rn(old == 0 ? values[k] : values[k] + old * __bfloat162float(at));
    }
  }
}

/// A stretch of a row of y, and the elements of x that one element of the filter meets there.
struct Overlap {
  size_t x, y, filter;  ///< index of the first elements
  size_t length, step;  ///< length in the row of y; step from one element of x to the next
};

/// Calls visit(Overlap) for every term of a convolution.
template <class Visit>
void overlaps(const HostTensor& x,
              const HostFilter& f,
              const HostConvolution& c,
              const HostTensor& y,
              Visit visit) {
  const auto at = [](int row, int columns, int column) {
    return static_cast<size_t>(row * columns + column);
  };
  for (int n = 0; n < x.n; ++n)
    for (int k = 0; k < f.k; ++k)
      for (int channel = 0; channel < f.c; ++channel)
        for (int r = 0; r < f.h; ++r)
          for (int s = 0; s < f.w; ++s) {
            if (x.w - 1 + c.pw - s < 0) continue;
            const int first = std::max(0, (c.pw - s + c.sw - 1) / c.sw);
            const int last = std::min(y.w - 1, (x.w - 1 + c.pw - s) / c.sw);
            if (last < first) continue;
            for (int i = 0; i < y.h; ++i) {
              const int row = i * c.sh + r - c.ph;
              if (row < 0 || row >= x.h) continue;
              visit(Overlap{at((n * x.c + channel) * x.h + row, x.w, first * c.sw + s - c.pw),
                            at((n * y.c + k) * y.h + i, y.w, first),
                            at((k * f.c + channel) * f.h + r, f.w, s),
                            static_cast<size_t>(last - first + 1), static_cast<size_t>(c.sw)});
            }
          }
}

bool agree(const HostTensor& x,
           const HostFilter& f,
           const HostConvolution& c,
           const HostTensor& y) {
  return x.c == f.c && y.c == f.k && x.n == y.n && y.h == (x.h + 2 * c.ph - f.h) / c.sh + 1 &&
         y.w == (x.w + 2 * c.pw - f.w) / c.sw + 1 && x.type == f.type && x.type == y.type;
}

/// Returns more bytes for more rows, larger pictures and larger filters, as cuDNN's algorithms do.
size_t workspace_bytes(const HostFilter& f, const HostTensor& y) {
  return 4 * (count(f) + product_of(y.n, 1, y.h, y.w));
}

cudnnStatus_t workspace_for(const HostTensor& x,
                            const HostFilter& f,
                            const HostConvolution& c,
                            const HostTensor& y,
                            size_t* bytes) {
  if (gv::host_cuda::refusals().bf16_convolutions && x.type == CUDNN_DATA_BFLOAT16) {
    gv::host_cuda::failed(cudaErrorInvalidValue);  // an error that an attempt may leave
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  *bytes = workspace_bytes(f, y);
  return agree(x, f, c, y) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

template <class Work>
cudnnStatus_t run(HostDnn* handle, void* workspace, size_t bytes, size_t needed, Work work) {
  if (bytes < needed || workspace == nullptr) return CUDNN_STATUS_BAD_PARAM;
  gv::host_cuda::enqueue(handle->stream, [workspace, needed, work] {
    gv::host_cuda::note_write(workspace, needed);
    std::memset(workspace, 0xFF, needed);
    work();
  });
  return CUDNN_STATUS_SUCCESS;
}

float value_of(const void* scalar) {
  return *static_cast<const float*>(scalar);
}

}  // namespace

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = new HostDnn;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
const char* cudnnGetErrorString(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return "success";
  return status == CUDNN_STATUS_BAD_PARAM ? "bad parameter" : "not supported";
}
void cudnnGetLastErrorString(char* to, size_t room) {
  if (room > 0) *to = 0;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) {
  *tensor = new HostTensor{};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  delete tensor;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor,
                                         cudnnTensorFormat_t,
                                         cudnnDataType_t type,
                                         int n,
                                         int c,
                                         int h,
                                         int w) {
  *tensor = {type, n, c, h, w};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filter) {
  *filter = new HostFilter{};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) {
  delete filter;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter,
                                         cudnnDataType_t type,
                                         cudnnTensorFormat_t,
                                         int k,
                                         int c,
                                         int h,
                                         int w) {
  *filter = {type, k, c, h, w};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* convolution) {
  *convolution = new HostConvolution{};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution) {
  delete convolution;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convolution,
                                              int ph,
                                              int pw,
                                              int sh,
                                              int sw,
                                              int dh,
                                              int dw,
                                              cudnnConvolutionMode_t mode,
                                              cudnnDataType_t) {
  if (dh != 1 || dw != 1 || mode != CUDNN_CROSS_CORRELATION) return CUDNN_STATUS_NOT_SUPPORTED;
  *convolution = {ph, pw, sh, sw, CUDNN_DEFAULT_MATH};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution,
                                          cudnnMathType_t math) {
  convolution->math = math;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t,
                                                      cudnnTensorDescriptor_t x,
                                                      cudnnFilterDescriptor_t f,
                                                      cudnnConvolutionDescriptor_t c,
                                                      cudnnTensorDescriptor_t y,
                                                      cudnnConvolutionFwdAlgo_t,
                                                      size_t* bytes) {
  return workspace_for(*x, *f, *c, *y, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t,
                                                           cudnnFilterDescriptor_t f,
                                                           cudnnTensorDescriptor_t y,
                                                           cudnnConvolutionDescriptor_t c,
                                                           cudnnTensorDescriptor_t x,
                                                           cudnnConvolutionBwdDataAlgo_t,
                                                           size_t* bytes) {
  return workspace_for(*x, *f, *c, *y, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnnHandle_t,
                                                             cudnnTensorDescriptor_t x,
                                                             cudnnTensorDescriptor_t y,
                                                             cudnnConvolutionDescriptor_t c,
                                                             cudnnFilterDescriptor_t f,
                                                             cudnnConvolutionBwdFilterAlgo_t,
                                                             size_t* bytes) {
  return workspace_for(*x, *f, *c, *y, bytes);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle,
                                      const void*,
                                      cudnnTensorDescriptor_t x_as,
                                      const void* x,
                                      cudnnFilterDescriptor_t w_as,
                                      const void* w,
                                      cudnnConvolutionDescriptor_t as,
                                      cudnnConvolutionFwdAlgo_t,
                                      void* workspace,
                                      size_t bytes,
                                      const void* beta,
                                      cudnnTensorDescriptor_t y_as,
                                      void* y) {
  if (!agree(*x_as, *w_as, *as, *y_as)) return CUDNN_STATUS_BAD_PARAM;
  return run(handle, workspace, bytes, workspace_bytes(*w_as, *y_as),
             [=, xs = *x_as, f = *w_as, c = *as, ys = *y_as, old = value_of(beta)] {
               const std::vector<float> a = read(x, xs.type, count(xs), c.math);
               const std::vector<float> b = read(w, f.type, count(f), c.math);
               std::vector<float> out(count(ys));
               overlaps(xs, f, c, ys, [&](const Overlap& o) {
                 for (size_t j = 0; j < o.length; ++j)
                   out[o.y + j] += b[o.filter] * a[o.x + j * o.step];
               });
               write(y, ys.type, out, old);
             });
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle,
                                           const void*,
                                           cudnnFilterDescriptor_t w_as,
                                           const void* w,
                                           cudnnTensorDescriptor_t y_as,
                                           const void* dy,
                                           cudnnConvolutionDescriptor_t as,
                                           cudnnConvolutionBwdDataAlgo_t,
                                           void* workspace,
                                           size_t bytes,
                                           const void* beta,
                                           cudnnTensorDescriptor_t x_as,
                                           void* dx) {
  if (!agree(*x_as, *w_as, *as, *y_as)) return CUDNN_STATUS_BAD_PARAM;
  return run(handle, workspace, bytes, workspace_bytes(*w_as, *y_as),
             [=, xs = *x_as, f = *w_as, c = *as, ys = *y_as, old = value_of(beta)] {
               const std::vector<float> a = read(dy, ys.type, count(ys), c.math);
               const std::vector<float> b = read(w, f.type, count(f), c.math);
               std::vector<float> out(count(xs));
               overlaps(xs, f, c, ys, [&](const Overlap& o) {
                 for (size_t j = 0; j < o.length; ++j)
                   out[o.x + j * o.step] += b[o.filter] * a[o.y + j];
               });
               write(dx, xs.type, out, old);
             });
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle,
                                             const void*,
                                             cudnnTensorDescriptor_t x_as,
                                             const void* x,
                                             cudnnTensorDescriptor_t y_as,
                                             const void* dy,
                                             cudnnConvolutionDescriptor_t as,
                                             cudnnConvolutionBwdFilterAlgo_t,
                                             void* workspace,
                                             size_t bytes,
                                             const void* beta,
                                             cudnnFilterDescriptor_t w_as,
                                             void* dw) {
  if (!agree(*x_as, *w_as, *as, *y_as)) return CUDNN_STATUS_BAD_PARAM;
  return run(handle, workspace, bytes, workspace_bytes(*w_as, *y_as),
             [=, xs = *x_as, f = *w_as, c = *as, ys = *y_as, old = value_of(beta)] {
               const std::vector<float> a = read(x, xs.type, count(xs), c.math);
               const std::vector<float> b = read(dy, ys.type, count(ys), c.math);
               std::vector<double> sums(count(f));
               overlaps(xs, f, c, ys, [&](const Overlap& o) {
                 float sum = 0;
                 for (size_t j = 0; j < o.length; ++j) sum += b[o.y + j] * a[o.x + j * o.step];
                 sums[o.filter] += static_cast<double>(sum);
               });
               write(dw, f.type, std::vector<float>(sums.begin(), sums.end()), old);
             });
}
