#include <algorithm>

#include "gpu/device/launch.h"
#include "gpu/kernels/vector_kernels.h"

// Compiled with -fmad=false, see gpu/device/arithmetic.h. These kernels are bound by memory: a
// thread handles four adjacent floats, with one access of 16 bytes if the piece is aligned for it.

namespace gv::gpu {
namespace {

template <int N>
struct Pack {
  float v[N];
};

/// Returns N floats from p; for N == 4, p is aligned to 16 bytes.
template <int N>
__device__ Pack<N> load(const float* p) {
  Pack<N> pack;
  if constexpr (N == 4) {
    const float4 four = *reinterpret_cast<const float4*>(p);
    pack.v[0] = four.x;
    pack.v[1] = four.y;
    pack.v[2] = four.z;
    pack.v[3] = four.w;
  } else {
    pack.v[0] = *p;
  }
  return pack;
}

template <int N>
__device__ void store(float* p, const Pack<N>& pack) {
  if constexpr (N == 4) {
    *reinterpret_cast<float4*>(p) = make_float4(pack.v[0], pack.v[1], pack.v[2], pack.v[3]);
  } else {
    *p = pack.v[0];
  }
}

/// x <- x + sum_j w_j (vector_j - x), for N elements from k. Marks a vector that holds a value that
/// is not finite: every thread that sees one writes the same 1.
template <int N>
__device__ void add_inflow(Pack<N>& x, const Inflow& in, std::size_t k) {
  Pack<N> sum;
  for (int i = 0; i < N; ++i) sum.v[i] = 0.0F;
  for (std::uint32_t j = 0; j < in.n; ++j) {
    const bool few = in.weights == nullptr;
    const Pack<N> theirs = load<N>((few ? in.few[j] : in.vectors + j * in.stride) + k);
    const float w = few ? in.weights_of_few[j] : in.weights[j];
    bool fine = true;
    for (int i = 0; i < N; ++i) {
      sum.v[i] += flow(w, theirs.v[i], x.v[i]);
      fine = fine && is_finite(theirs.v[i]);
    }
    if (!fine) atomicOr(in.bad + j, 1U);
  }
  for (int i = 0; i < N; ++i) x.v[i] += sum.v[i];
}

template <int N, StepRule::Kind kind>
__device__ void add_step(Pack<N>& x, const Piece& piece, const StepRule& rule, std::size_t k) {
  const Pack<N> g = load<N>(piece.g + k);
  Pack<N> first{};
  Pack<N> second{};
  if constexpr (kind != StepRule::Kind::plain) first = load<N>(piece.first + k);
  if constexpr (has_moments(kind)) second = load<N>(piece.second + k);
  for (int i = 0; i < N; ++i) step<kind>(rule, x.v[i], g.v[i], first.v[i], second.v[i]);
  if constexpr (kind != StepRule::Kind::plain) store<N>(piece.first + k, first);
  if constexpr (has_moments(kind)) store<N>(piece.second + k, second);
}

struct Mixes {
  Inflow in;
  template <int N>
  __device__ void apply(const Piece& piece, std::size_t k) const {
    Pack<N> x = load<N>(piece.x + k);
    add_inflow<N>(x, in, k);
    store<N>(piece.x + k, x);
  }
};

template <StepRule::Kind kind>
struct Steps {
  StepRule rule;
  template <int N>
  __device__ void apply(const Piece& piece, std::size_t k) const {
    Pack<N> x = load<N>(piece.x + k);
    add_step<N, kind>(x, piece, rule, k);
    store<N>(piece.x + k, x);
  }
};

/// Steps, with a rule that is read when the kernel runs.
template <StepRule::Kind kind>
struct StepsAsWritten {
  const StepRule* rule;
  template <int N>
  __device__ void apply(const Piece& piece, std::size_t k) const {
    Steps<kind>{*rule}.template apply<N>(piece, k);
  }
};

template <StepRule::Kind kind>
struct MixesAndSteps {
  Inflow in;
  StepRule rule;
  template <int N>
  __device__ void apply(const Piece& piece, std::size_t k) const {
    Pack<N> x = load<N>(piece.x + k);
    add_inflow<N>(x, in, k);
    add_step<N, kind>(x, piece, rule, k);
    store<N>(piece.x + k, x);
  }
};

/// Thread t handles pack t, and element t of the remainder after the whole packs.
template <int N, class Pass>
__global__ void pass_kernel(Piece piece, Pass pass) {
  const std::size_t t = thread_index();
  const std::size_t packs = piece.count / N;
  if (t < packs) pass.template apply<N>(piece, t * N);
  if (packs * N + t < piece.count) pass.template apply<1>(piece, packs * N + t);
}

bool aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

bool aligned(const Inflow& in) {
  if (in.weights != nullptr) return aligned(in.vectors);
  return std::all_of(in.few, in.few + in.n, [](const float* v) { return aligned(v); });
}

template <class Pass>
void run(const Piece& piece, const Pass& pass, bool fours, cudaStream_t stream) {
  if (piece.count == 0) return;
  if (fours && aligned(piece.x) && aligned(piece.g) && aligned(piece.first) &&
      aligned(piece.second)) {
    // At least one block: its first three threads handle the remainder after the whole packs.
    launch(pass_kernel<4, Pass>, std::max<std::size_t>(piece.count / 4, 1), stream, piece, pass);
  } else {
    launch(pass_kernel<1, Pass>, piece.count, stream, piece, pass);
  }
}

/// Calls body.operator()<kind>() for the rule's kind.
template <class Body>
void for_kind(StepRule::Kind kind, Body body) {
  switch (kind) {
    case StepRule::Kind::plain:
      return body.template operator()<StepRule::Kind::plain>();
    case StepRule::Kind::momentum:
      return body.template operator()<StepRule::Kind::momentum>();
    case StepRule::Kind::nesterov:
      return body.template operator()<StepRule::Kind::nesterov>();
    case StepRule::Kind::adam:
      return body.template operator()<StepRule::Kind::adam>();
    case StepRule::Kind::adamw:
      return body.template operator()<StepRule::Kind::adamw>();
  }
}

__global__ void add_flow_kernel(float* x,
                                float w,
                                const float* theirs,
                                const float* ours,
                                std::size_t count,
                                std::uint32_t* bad) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  x[k] += flow(w, theirs[k], ours[k]);
  if (!is_finite(theirs[k])) atomicOr(bad, 1U);
}

__global__ void add_kernel(float* v, const float* in, std::size_t count) {
  const std::size_t k = thread_index();
  if (k < count) v[k] += in[k];
}

__global__ void scale_kernel(float* v, float factor, std::size_t count) {
  const std::size_t k = thread_index();
  if (k < count) v[k] = factor == 0 ? 0 : v[k] * factor;
}

__global__ void axpby_kernel(float a, const float* from, float b, float* to, std::size_t count) {
  const std::size_t k = thread_index();
  if (k < count) to[k] = b == 0 ? a * from[k] : a * from[k] + b * to[k];
}

__global__ void not_finite_kernel(const float* v, std::size_t count, std::uint32_t* bad) {
  const std::size_t k = thread_index();
  if (k < count && !is_finite(v[k])) atomicOr(bad, 1U);
}

}  // namespace

void mix(const Piece& piece, const Inflow& in, cudaStream_t stream) {
  run(piece, Mixes{in}, aligned(in), stream);
}

void mix_and_step(const Piece& piece, const Inflow& in, const StepRule& rule, cudaStream_t stream) {
  for_kind(rule.kind, [&]<StepRule::Kind kind>() {
    run(piece, MixesAndSteps<kind>{in, rule}, aligned(in), stream);
  });
}

void step(const Piece& piece, const StepRule& rule, cudaStream_t stream) {
  for_kind(rule.kind, [&]<StepRule::Kind kind>() { run(piece, Steps<kind>{rule}, true, stream); });
}

void step(const Piece& piece, StepRule::Kind of, const StepRule* rule, cudaStream_t stream) {
  for_kind(of,
           [&]<StepRule::Kind kind>() { run(piece, StepsAsWritten<kind>{rule}, true, stream); });
}

void add_flow(float* x,
              float w,
              const float* theirs,
              const float* ours,
              std::size_t count,
              std::uint32_t* bad,
              cudaStream_t stream) {
  launch(add_flow_kernel, count, stream, x, w, theirs, ours, count, bad);
}

void add(float* v, const float* in, std::size_t count, cudaStream_t stream) {
  launch(add_kernel, count, stream, v, in, count);
}

void scale(float* v, float factor, std::size_t count, cudaStream_t stream) {
  launch(scale_kernel, count, stream, v, factor, count);
}

void axpby(float a, const float* from, float b, float* to, std::size_t count, cudaStream_t stream) {
  launch(axpby_kernel, count, stream, a, from, b, to, count);
}

void look_for_not_finite(const float* v,
                         std::size_t count,
                         std::uint32_t* bad,
                         cudaStream_t stream) {
  launch(not_finite_kernel, count, stream, v, count, bad);
}

}  // namespace gv::gpu
