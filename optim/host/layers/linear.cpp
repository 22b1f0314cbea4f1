#include "optim/host/gemm.h"
#include "optim/host/host_layer.h"

namespace gv {
namespace {

/// Matrix products on the flat vector in place; a picture in blocks is first converted to the plain
/// layout.
class Linear : public HostLayer {
 public:
  explicit Linear(const LayerPlace& place)
      : memory_(place.memory),
        weight_(place.tensor(0)),
        relu_(place.relu),
        product_{.rows = static_cast<int>(place.rows * place.node.out.positions),
                 .in = static_cast<int>(weight_.parameter.shape[1]),
                 .out = static_cast<int>(place.node.out.channels)},
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
    product_.multiply(floats(input_.tensor()), x.data() + weight_.offset, floats(y_));
    if (bias_) product_.add_bias(x.data() + bias_->offset, relu_, floats(y_));
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
    product_.weight_gradient(floats(input_.tensor()), dy, g.data() + weight_.offset);
    if (bias_) product_.bias_gradient(dy, g.data() + bias_->offset);
    if (!data_out_.tensor()) return;
    product_.input_gradient(dy, x.data() + weight_.offset, floats(data_out_.tensor()));
    data_out_.run();
  }

 private:
  HostMemory& memory_;
  Tensor weight_;
  std::optional<Tensor> bias_;
  bool relu_;
  FullyConnected product_;
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
