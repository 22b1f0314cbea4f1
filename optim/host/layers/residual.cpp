#include <algorithm>
#include <cstring>

#include "optim/host/host_layer.h"

namespace gv {
namespace {

/// Converts the second input to the layout of the first; both get the unchanged gradient.
class Add : public HostLayer {
 public:
  explicit Add(const LayerPlace& place)
      : memory_(place.memory),
        relu_(place.relu),
        a_(place.inputs[0].tensor),
        second_layout_(place.inputs[1].tensor.get_desc()),
        b_(Conversion::of(memory_, place.inputs[1].tensor, a_.get_desc())) {
    set_output(memory_.lend(a_.get_desc()));
    b_.drop();
  }

  void forward(std::span<const float>, Moments) override {
    b_.run();
    const float* a = floats(a_);
    const float* b = floats(b_.tensor());
    float* y = floats(y_);
    const std::size_t n = float_count(y_);
    if (relu_) {
      for (std::size_t k = 0; k < n; ++k) y[k] = std::max(a[k] + b[k], 0.0F);
    } else {
      for (std::size_t k = 0; k < n; ++k) y[k] = a[k] + b[k];
    }
  }

  std::vector<Lease> prepare_backward(const std::vector<Lease>& parts, bool) override {
    incoming_ = IncomingGradient(memory_, parts, y_, relu_);
    const Lease first = incoming_.lease();
    Lease second = first;
    if (second_layout_ != a_.get_desc()) {
      second = memory_.lend(second_layout_);
      to_second_ = Conversion::into(memory_, a_.get_desc(), second.tensor);
      to_second_.drop();
    }
    incoming_.drop();
    return {first, second};
  }
  void backward(std::span<const float>, std::span<float>) override {
    incoming_.gather();
    if (!to_second_.tensor()) return;
    std::memcpy(floats(to_second_.tensor()), floats(incoming_.tensor()),
                float_count(incoming_.tensor()) * sizeof(float));
    to_second_.run();
  }

 private:
  HostMemory& memory_;
  bool relu_;
  dnnl::memory a_;
  dnnl::memory::desc second_layout_;
  Conversion b_, to_second_;
  IncomingGradient incoming_;
};

/// Option A of He et al. 2016, arXiv:1512.03385, section 3.3: nothing to learn.
class Shortcut : public SingleInputLayer {
 public:
  explicit Shortcut(const LayerPlace& place)
      : SingleInputLayer(place),
        stride_(place.node.stride),
        before_((place.node.out.channels - place.in().channels) / 2),
        in_(layout_of(x_)) {
    const auto format = in_.block == 16  ? dnnl::memory::format_tag::nChw16c
                        : in_.block == 8 ? dnnl::memory::format_tag::nChw8c
                                         : dnnl::memory::format_tag::nchw;
    set_output(memory_.lend(picture_of(place.rows, place.node.out, format)));
    out_ = layout_of(y_);
    // Channels that are adjacent at both ends are moved together.
    for (std::size_t c = 0; c < in_.channels;) {
      const std::size_t length = std::min(
          {in_.block - c % in_.block, out_.block - (c + before_) % out_.block, in_.channels - c});
      runs_.push_back({c, length});
      c += length;
    }
  }

  void forward(std::span<const float>, Moments) override {
    std::fill_n(floats(y_), float_count(y_), 0.0F);
    each_run([this](std::size_t from, std::size_t to, std::size_t length) {
      std::copy_n(floats(x_) + from, length, floats(y_) + to);
    });
  }

  void backward(std::span<const float>, std::span<float>) override {
    incoming_.gather();
    std::fill_n(floats(dx_), float_count(dx_), 0.0F);
    each_run([this](std::size_t from, std::size_t to, std::size_t length) {
      std::copy_n(floats(incoming_.tensor()) + to, length, floats(dx_) + from);
    });
  }

 private:
  struct Run {
    std::size_t channel, length;
  };

  template <class Body>
  void each_run(Body body) const {
    for (std::size_t r = 0; r < in_.rows; ++r) {
      for (const auto [c, length] : runs_) {
        const std::size_t from = in_.at(r, c);
        const std::size_t to = out_.at(r, c + before_);
        for (std::size_t h = 0; h < out_.height; ++h)
          for (std::size_t w = 0; w < out_.width; ++w)
            body(from + (h * in_.width + w) * stride_ * in_.block,
                 to + (h * out_.width + w) * out_.block, length);
      }
    }
  }

  std::size_t stride_, before_;
  PictureLayout in_, out_{};
  std::vector<Run> runs_;
};

}  // namespace

LayerPointer make_host_add(const LayerPlace& place) {
  return std::make_unique<Add>(place);
}

LayerPointer make_host_shortcut(const LayerPlace& place) {
  return std::make_unique<Shortcut>(place);
}

}  // namespace gv
