#include <algorithm>
#include <cmath>

#include "optim/gemm.h"
#include "optim/host_layer.h"

namespace gv {
namespace {

/// Matrix products on the flat vector as it lies; a picture in blocks is laid plain before.
class Linear : public HostLayer {
 public:
  explicit Linear(const LayerPlace& place)
      : memory_(place.memory),
        weight_(place.tensor(0)),
        relu_(place.relu),
        rows_(static_cast<int>(place.rows * place.node.out.positions)),
        in_(static_cast<int>(weight_.parameter.shape[1])),
        out_(static_cast<int>(place.node.out.channels)),
        x_(place.inputs[0].tensor) {
    if (place.node.parameters.size() > 1) bias_ = place.tensor(1);
    const bool picture = x_.get_desc().data.ndims == 4;
    plain_ = picture ? picture_of(place.rows, place.in()) : x_.get_desc();
    input_ = Conversion::of(memory_, x_, plain_);
    set_output(memory_.lend(matrix_of(place.rows, place.node.out)));
    if (!place.training) input_.drop();
  }

  void forward(std::span<const float> x, Moments) override {
    input_.run();
    gemm(false,
         true,
         rows_,
         out_,
         in_,
         1,
         floats(input_.tensor()),
         in_,
         x.data() + weight_.offset,
         in_,
         0,
         floats(y_),
         out_);
    if (!bias_) return;
    const float floor = relu_ ? 0.0F : -INFINITY;
    const float* bias = x.data() + bias_->offset;
    for (int r = 0; r < rows_; ++r) {
      float* y = floats(y_) + std::ptrdiff_t{r} * out_;
      for (int c = 0; c < out_; ++c) y[c] = std::max(y[c] + bias[c], floor);
    }
  }

  std::vector<Lease> prepare_backward(const std::vector<Lease>& parts, bool wanted) override {
    incoming_ = IncomingGradient(memory_, parts, y_, relu_);
    std::vector<Lease> results;
    if (wanted) {
      results.push_back(memory_.lend(x_.get_desc()));
      data_out_ = Conversion::into(memory_, plain_, results.front().tensor);
    }
    incoming_.drop();
    data_out_.drop();
    return results;
  }

  void backward(std::span<const float> x, std::span<float> g) override {
    incoming_.gather();
    const float* dy = floats(incoming_.tensor());
    const float* a = floats(input_.tensor());
    gemm(true, false, out_, in_, rows_, 1, dy, out_, a, in_, 0, g.data() + weight_.offset, in_);
    if (bias_) sum_rows(dy, g.data() + bias_->offset);
    if (!data_out_.tensor()) return;
    const float* weight = x.data() + weight_.offset;
    float* dx = floats(data_out_.tensor());
    gemm(false, false, rows_, in_, out_, 1, dy, out_, weight, in_, 0, dx, in_);
    data_out_.run();
  }

 private:
  void sum_rows(const float* dy, float* sum) const {
    std::fill_n(sum, out_, 0.0F);
    for (int r = 0; r < rows_; ++r, dy += out_)
      for (int c = 0; c < out_; ++c) sum[c] += dy[c];
  }

  HostMemory& memory_;
  Tensor weight_;
  std::optional<Tensor> bias_;
  bool relu_;
  int rows_, in_, out_;
  dnnl::memory x_;
  dnnl::memory::desc plain_;
  Conversion input_, data_out_;
  IncomingGradient incoming_;
};

}  // namespace

LayerPointer make_host_linear(const LayerPlace& place) {
  return std::make_unique<Linear>(place);
}

}  // namespace gv
