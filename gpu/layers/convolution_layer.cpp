#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "gpu/device/cuda_check.h"
#include "gpu/device/cuda_error.h"
#include "gpu/device/dnn.h"
#include "gpu/layers/elementwise.h"
#include "gpu/layers/layer.h"
#include "optim/check.h"

// Convolutions by cuDNN. Only algorithms that sum in a fixed order are used, and no Winograd
// transform, because it rounds differently: the results must match the CPU's.

namespace gv::gpu {

void check(cudnnStatus_t status, const char* call, const char* file, int line) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 512> more{};
  cudnnGetLastErrorString(more.data(), more.size());
  const std::string path(file);
  throw CudaError(std::string("[gpu] cuDNN: ") + cudnnGetErrorString(status) + ", in " + call +
                  " (" + path.substr(path.rfind('/') + 1) + ":" + std::to_string(line) + ") " +
                  more.data());
}

namespace {

constexpr std::array forward_algorithms{CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                                        CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM};
constexpr std::array data_algorithms{CUDNN_CONVOLUTION_BWD_DATA_ALGO_1};
constexpr std::array filter_algorithms{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1};

/// Descriptors, algorithms and workspace of the passes with one number of rows.
struct Shaped {
  TensorDescriptor in, out;
  cudnnConvolutionFwdAlgo_t forward{};
  cudnnConvolutionBwdDataAlgo_t data{};
  cudnnConvolutionBwdFilterAlgo_t filter{};
  std::size_t workspace = 0;  ///< bytes
};

/// Returns the first algorithm that `bytes_of` (algorithm, bytes) accepts; `workspace` grows to
/// fit.
template <class Algorithms, class BytesOf>
auto first_supported(const Algorithms& algorithms,
                     const char* what,
                     std::size_t& workspace,
                     BytesOf bytes_of) {
  for (const auto algorithm : algorithms) {
    std::size_t bytes = 0;
    if (bytes_of(algorithm, &bytes) != CUDNN_STATUS_SUCCESS) {
      cudaGetLastError();  // an error that the attempt may have set
      continue;
    }
    workspace = std::max(workspace, bytes);
    return algorithm;
  }
  throw CudaError(std::string("[gpu] cuDNN has no repeatable algorithm for the ") + what +
                  " of a convolution of this shape");
}

int as_int(std::size_t value) {
  GV_CHECK(value <= 0x7fffffff, "cuDNN counts in 32 bits");
  return static_cast<int>(value);
}

/// State that all convolutions of a context share.
struct Dnn {
  DnnHandle handle;
  bool told = false;  ///< whether the notice about tf32 was printed
};

Dnn& dnn_of(DeviceContext& context) {
  if (!context.dnn) {
    auto dnn = std::make_shared<Dnn>();
    GV_DNN(cudnnSetStream(dnn->handle, context.stream));
    context.dnn = std::move(dnn);
  }
  return *static_cast<Dnn*>(context.dnn.get());
}

class Convolution : public Layer {
 public:
  explicit Convolution(const LayerPlan& plan)
      : context_(plan.context),
        in_(plan.in),
        out_(plan.node.out),
        relu_(plan.then == Op::relu),
        goes_back_(plan.node.inputs[0] != 0),
        rounded_(plan.context.precision == Precision::bf16),
        weight_(plan.offset(0)),
        weights_(plan.network.tensors[plan.node.parameters[0]].count),
        biased_(plan.has(1)),
        bias_(biased_ ? plan.offset(1) : 0),
        handle_(dnn_of(context_).handle) {
    context_.reserve_workspace(rounded_ ? rounded_or_not(plan) : shape(plan));
    // Factors: x and the weights, dy and the weights, x and dy; results: y, dx, dW.
    const std::size_t values = plan.most_rows * std::max(in_.elements(), out_.elements());
    context_.reserve_factors(values, std::max(values, weights_));
    context_.reserve_result(std::max(values, weights_));
  }

  void forward(const Pass& pass) override {
    const Shaped& s = shaped_.at(pass.rows);
    const void* x = first(pass.in, in_count(pass));
    const void* w = second(pass.parameters + weight_, weights_);
    const float one = 1;
    const float zero = 0;
    GV_DNN(cudnnConvolutionForward(handle_, &one, s.in, x, filter_, w, convolution_, s.forward,
                                   context_.workspace(), context_.workspace_bytes(), &zero, s.out,
                                   result(pass.out)));
    widen(pass.out, out_count(pass), false);
    if (biased_)
      add_channel_bias(pass.out, pass.parameters + bias_, pass.rows, out_.channels, pixels(), relu_,
                       context_.stream);
  }

  void backward(const Pass& pass) override {
    if (relu_)
      go_back_through(Op::relu, pass.out, pass.d_out, pass.d_out, out_count(pass), false,
                      context_.stream);
    by_weight(pass);
    if (biased_)
      sum_channels(pass.d_out, pass.gradient + bias_, pass.rows, out_.channels, pixels(),
                   context_.stream);
    if (pass.d_in != nullptr) by_input(pass);
  }

 private:
  /// Returns the workspace in bytes. Throws CudaError if cuDNN has no algorithm for a pass.
  std::size_t shape(const LayerPlan& plan) {
    describe(plan.node);
    std::size_t workspace = 0;
    for (const std::uint32_t rows : plan.row_counts)
      workspace = std::max(workspace, shape_for(rows).workspace);
    return workspace;
  }
  /// Does as shape(), in bfloat16 if cuDNN supports it for this shape, else in tf32.
  std::size_t rounded_or_not(const LayerPlan& plan) {
    try {
      return shape(plan);
    } catch (const CudaError& e) {
      if (!std::exchange(dnn_of(context_).told, true))
        notice(std::string(e.what()) + " in bf16; such convolutions are computed in tf32");
    }
    rounded_ = false;
    shaped_.clear();
    return shape(plan);
  }
  void describe(const Node& node) {
    const cudnnDataType_t type = rounded_ ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
    GV_DNN(cudnnSetFilter4dDescriptor(filter_, type, CUDNN_TENSOR_NCHW, as_int(out_.channels),
                                      as_int(in_.channels), as_int(node.kernel),
                                      as_int(node.kernel)));
    GV_DNN(cudnnSetConvolution2dDescriptor(convolution_, as_int(node.padding), as_int(node.padding),
                                           as_int(node.stride), as_int(node.stride), 1, 1,
                                           CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    // The default allows tf32, so float32 is requested explicitly.
    const cudnnMathType_t math = rounded_                                ? CUDNN_TENSOR_OP_MATH
                                 : context_.precision == Precision::fp32 ? CUDNN_FMA_MATH
                                                                         : CUDNN_DEFAULT_MATH;
    GV_DNN(cudnnSetConvolutionMathType(convolution_, math));
  }

  Shaped& shape_for(std::uint32_t rows) {
    if (const auto known = shaped_.find(rows); known != shaped_.end()) return known->second;
    Shaped& s = shaped_[rows];
    set(s.in, rows, in_);
    set(s.out, rows, out_);
    s.forward = first_supported(
        forward_algorithms, "forward pass", s.workspace, [&](auto algorithm, std::size_t* bytes) {
          return cudnnGetConvolutionForwardWorkspaceSize(handle_, s.in, filter_, convolution_,
                                                         s.out, algorithm, bytes);
        });
    if (goes_back_)
      s.data = first_supported(data_algorithms, "gradient by the input", s.workspace,
                               [&](auto algorithm, auto* bytes) {
                                 return cudnnGetConvolutionBackwardDataWorkspaceSize(
                                     handle_, filter_, s.out, convolution_, s.in, algorithm, bytes);
                               });
    s.filter = first_supported(filter_algorithms, "gradient by the weights", s.workspace,
                               [&](auto algorithm, auto* bytes) {
                                 return cudnnGetConvolutionBackwardFilterWorkspaceSize(
                                     handle_, s.in, s.out, convolution_, filter_, algorithm, bytes);
                               });
    return s;
  }

  void set(const TensorDescriptor& tensor, std::uint32_t rows, const Shape& shape) const {
    GV_DNN(cudnnSetTensor4dDescriptor(
        tensor, CUDNN_TENSOR_NCHW, rounded_ ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT, as_int(rows),
        as_int(shape.channels), as_int(shape.height), as_int(shape.width)));
  }

  void by_weight(const Pass& pass) {
    const Shaped& s = shaped_.at(pass.rows);
    const void* x = first(pass.in, in_count(pass));
    const void* dy = second(pass.d_out, out_count(pass));
    float* d_weight = pass.gradient + weight_;
    const float one = 1;
    const float zero = 0;
    GV_DNN(cudnnConvolutionBackwardFilter(handle_, &one, s.in, x, s.out, dy, convolution_, s.filter,
                                          context_.workspace(), context_.workspace_bytes(), &zero,
                                          filter_, result(d_weight)));
    widen(d_weight, weights_, false);
  }

  void by_input(const Pass& pass) {
    const Shaped& s = shaped_.at(pass.rows);
    const void* dy = first(pass.d_out, out_count(pass));
    const void* w = second(pass.parameters + weight_, weights_);
    const float one = 1;
    const float beta = pass.add && !rounded_ ? 1.0F : 0.0F;
    GV_DNN(cudnnConvolutionBackwardData(handle_, &one, filter_, w, s.out, dy, convolution_, s.data,
                                        context_.workspace(), context_.workspace_bytes(), &beta,
                                        s.in, result(pass.d_in)));
    widen(pass.d_in, in_count(pass), pass.add);
  }

  std::uint32_t pixels() const { return out_.height * out_.width; }
  std::size_t in_count(const Pass& pass) const { return pass.rows * in_.elements(); }
  std::size_t out_count(const Pass& pass) const { return pass.rows * out_.elements(); }

  // bf16: rounds factors into the context's buffers, widens the result from a buffer.
  const void* first(const float* values, std::size_t count) {
    if (!rounded_) return values;
    to_bf16(values, context_.factor_a(), count, context_.stream);
    return context_.factor_a();
  }
  const void* second(const float* values, std::size_t count) {
    if (!rounded_) return values;
    to_bf16(values, context_.factor_b(), count, context_.stream);
    return context_.factor_b();
  }
  void* result(float* values) { return rounded_ ? context_.result() : values; }
  void widen(float* values, std::size_t count, bool add) {
    if (rounded_) from_bf16(context_.result(), values, count, add, context_.stream);
  }

  DeviceContext& context_;
  Shape in_, out_;
  bool relu_;
  bool goes_back_;  ///< whether its input has a gradient: it is not the network's
  bool rounded_;    ///< whether factors and result are bfloat16
  std::size_t weight_, weights_;
  bool biased_;
  std::size_t bias_;
  cudnnHandle_t handle_;
  FilterDescriptor filter_;
  ConvolutionDescriptor convolution_;
  std::map<std::uint32_t, Shaped> shaped_;  ///< by rows
};

}  // namespace

std::unique_ptr<Layer> make_convolution(const LayerPlan& plan) {
  return std::make_unique<Convolution>(plan);
}

}  // namespace gv::gpu
