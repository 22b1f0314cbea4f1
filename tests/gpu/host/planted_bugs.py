"""Bugs that a file of gpu/ could have: what stands there, what would stand there, and the cases that can see it."""
import typing

REPLICA = 'Every/ReplicaTest.*/cuda'
MIX = ('*ReplicaTest.Mix*/cuda:*ReplicaTest.WhatIs*/cuda:*ReplicaTest.ALate*/cuda:*ReplicaTest.OnePass*/cuda:'
       '*ReplicaTest.Stretches*/cuda:'
       '*ReplicaTest.Buffers*/cuda:*ReplicaTest.IsDone*/cuda')
TRAIN = ('*ReplicaTest.AWhole*/cuda:*ReplicaTest.TheSame*/cuda:*ReplicaTest.AnEval*/cuda:'
         '*ReplicaTest.GoesBack*/cuda:*ReplicaTest.MayEnd*/cuda:'
         '*ReplicaTest.Learns*/cuda:StreamedTraining*:EvaluatedTraining*')
CODEC = '*Level1Test.Encodes*/cuda:*Level1Test.Dot*/cuda'
LARGE = 'EncoderTest*'
OVERLAP = 'OverlapTest*:*Orders*/mlp'
LOCKS = 'PageLocks*'
SAMPLES = '*SamplesTest*'
LENET = '*Parity.Gradients*/lenet5'
TEXT = '*Parity.Gradients*/transformer'
LONE = 'LoneLayersParity*'
NORMED = '*Parity.Gradients*/resnet20*:*Parity.TheLoss*/resnet20'
TRANSFER = 'gpu/replica/device_transfer.cpp'
REPLICA_FILE = 'gpu/replica/cuda_replica.cpp'
INBOX = 'gpu/replica/device_transfer.cpp'
TRAINER = 'gpu/replica/trainer.cpp'
SAMPLES_FILE = 'gpu/kernels/sample_kernels.cu'
VECTORS = 'gpu/kernels/vector_kernels.cu'
PINNED = 'gpu/replica/pinned_memory.cpp'
TOP_K = 'gpu/kernels/codec_kernels.cu'
ATTENTION = 'gpu/layers/attention.cu'
SUM = 'gpu/device/launch.h'


class Bug(typing.NamedTuple):
    name: str
    file: str
    old: str
    new: str
    cases: str


STREAMS = [
    Bug('no event after the copies', TRANSFER, '  slot.full.hold(compute_);\n', '', MIX),
    Bug('no event before the next copies', TRANSFER, '  slot.free.hold(copy_);\n', '', MIX),
    Bug('the event of the copies on the other stream', TRANSFER,
        'slot.full.record(copy_);', 'slot.full.record(compute_);', MIX),
    Bug('the event of the reader on the other stream', TRANSFER,
        'slot.free.record(compute_);', 'slot.free.record(copy_);', MIX),
    Bug('one slot for both', TRANSFER, '  next_ = 1 - next_;\n  slot.free.hold(copy_);\n', '', MIX),
    Bug('marks read before they are there', TRANSFER, 'cudaMemcpyDeviceToHost, compute_);\n  compute_.wait();',
        'cudaMemcpyDeviceToHost, compute_);', MIX),
    Bug('marks not cleared', TRANSFER, 'if (!bad.empty()) GV_CUDA', 'if (false) GV_CUDA', MIX),
    Bug('a buffer given back while it is copied', TRANSFER,
        '  compute_.wait();  // the copies', '  // the copies', MIX),
    Bug('a buffer given back while it is loaded', REPLICA_FILE, '''cudaMemcpyHostToDevice, context_.stream);
    context_.stream.wait();
  }
  void add''', '''cudaMemcpyHostToDevice, context_.stream);
  }
  void add''', MIX),
    Bug('snapshot not waited for', REPLICA_FILE, '    out_.wait();\n', '', MIX),
    Bug('minibatch not waited for', TRAINER, '  train_.hold(place_, context_.stream);\n', '', TRAIN),
    Bug('rows of an evaluation not waited for', TRAINER, '    samples.hold(place, context_.stream);\n', '', TRAIN),
    Bug('the next rows into the place in use', TRAINER, '    place = 1 - place;\n', '', TRAIN),
    Bug('cleared memory not waited for', 'gpu/device/device_memory.cpp', 'cudaStreamSynchronize(nullptr); done',
        'cudaPeekAtLastError(); done', TRAIN),
    Bug('the loss read too early', TRAINER, '  done_.wait();\n', '', TRAIN),
    Bug('the next minibatch into the place in use', TRAINER,
        '  place_ = 1 - place_;\n  batches_.step();', '  batches_.step();',
        TRAIN),
    Bug('a place taken by the sample not sent again', TRAINER,
        '  sent_ = false;  // the sample', '  // the sample', TRAIN),
    Bug('a minibatch of before the restoring', TRAINER,
        '  batches_.restore(in);\n  sent_ = false;', '  batches_.restore(in);',
        TRAIN),
    Bug('the dot product read too early', 'gpu/kernels/dot_kernels.cu', '  compute_.wait();\n', '', CODEC),
    Bug('an encoding read too early', 'gpu/kernels/codec_kernels.cu', 'cudaMemcpyDeviceToHost, compute_);\n  compute_.wait();',
        'cudaMemcpyDeviceToHost, compute_);', CODEC),
    Bug('top-k grown while it counts', TOP_K,
        '  GV_CUDA(cudaStreamSynchronize(stream));  // work', '  (void)stream;  // work', 'EncoderTest.Grows*'),
    Bug('a replica destroyed while it steps', REPLICA_FILE,
        '    cudaStreamSynchronize(context_.stream);\n    cudaStreamSynchronize(out_);\n',
        '    cudaStreamSynchronize(out_);\n', TRAIN),
    Bug('samples destroyed while they are sent', SAMPLES_FILE,
        '  cudaStreamSynchronize(copy_);  // a copy', '  // a copy', TRAIN),
]
GRAPHS_AND_MEMORY = [
    Bug('one graph for both places', TRAINER, 'recording.graphs[place_]', 'recording.graphs[0]', TRAIN),
    Bug('one recording for steps and gradients', TRAINER, 'step ? gradient_and_step_ : gradient_', 'gradient_', TRAIN),
    Bug('the rule of the first step recorded', REPLICA_FILE, 'piece({0, size()}), clock_.kind(), rule_.data(),',
        'piece({0, size()}), clock_.rule(),', TRAIN),
    Bug('a graph recorded with a stale pointer', REPLICA_FILE, '    upload(x_, x);\n',
        '    x_ = DeviceArray<float>(size(), "the model");\n    upload(x_, x);\n', TRAIN),
    Bug('an allocation in a recorded pass', 'gpu/layers/device_network.cpp', 'as many rows as there is room for");',
        'as many rows as there is room for");\n  DeviceArray<float> more(all.rows, "more");', 'Refused.Recordings*'),
    Bug('a workspace that shrinks', 'gpu/device/device_context.cu', '  if (bytes <= workspace_.size()) return;\n',
        '  if (bytes == workspace_.size()) return;\n', NORMED),
    Bug('factors in too little room', 'gpu/layers/linear.cu', 'std::max(weights, n * in_)', 'weights',
        '*Coarser*/mlp:*Coarser*/transformer'),
    Bug('host memory given to a kernel', REPLICA_FILE, 'clock_.kind(), rule_.data(), context_.stream);',
        'clock_.kind(), host_rule_.data(), context_.stream);', TRAIN),
    Bug('host memory inside what a kernel is given', TRANSFER,
        'few_ ? nullptr : weights_.data()', 'few_ ? nullptr : host_weights_.data()', MIX),
    Bug('device memory read by the host', TRANSFER, 'if (host_bad_[j] != 0)', 'if (bad_[j] != 0)', MIX),
    Bug('weights copied the wrong way', TRANSFER, 'flows.weights.size(), cudaMemcpyHostToDevice',
        'flows.weights.size(), cudaMemcpyDeviceToDevice', MIX),
]
THREADS = [
    Bug('no barrier inside a sum', SUM, '''      b[threadIdx.x] += b[threadIdx.x + half];
    }
    __syncthreads();''', '''      b[threadIdx.x] += b[threadIdx.x + half];
    }
    if (half > 32) __syncthreads();''', CODEC),
    Bug('no barrier before a sum', SUM,
        '  b[threadIdx.x] = mine.b;\n  __syncthreads();', '  b[threadIdx.x] = mine.b;', CODEC),
    Bug('no barrier after a scan', TOP_K, '  __syncthreads();  // the memory is free for the next sum\n', '', LARGE),
    Bug('no barrier in a scan', TOP_K,
        '''    const Split left = threadIdx.x >= step ? sums[threadIdx.x - step] : Split{0, 0};
    __syncthreads();''', '''    const Split left = threadIdx.x >= step ? sums[threadIdx.x - step] : Split{0, 0};''',
        CODEC),
    Bug('no barrier before the bins are counted', TOP_K, 'mine[d] = 0;\n  __syncthreads();', 'mine[d] = 0;', CODEC),
    Bug('shared memory not cleared', TOP_K,
        '  for (unsigned d = threadIdx.x; d < digit.bins(); d += block_threads) mine[d] = 0;\n',
        '', CODEC),
    Bug('bins not cleared', TOP_K, 'd += block_threads) bins[d] = 0;', 'd += block_threads) bins[d] = bins[d];', CODEC),
    Bug('an atomic sum in a block that is none', TOP_K, 'atomicAdd(mine + (a & (digit.bins() - 1)), 1U)',
        'mine[a & (digit.bins() - 1)] += 1U', CODEC),
    Bug('an atomic sum of blocks that is none', TOP_K, 'atomicAdd(bins + d, mine[d])', 'bins[d] += mine[d]', CODEC),
    Bug('an atomic mark that is none', VECTORS, 'atomicOr(in.bad + j, 1U)', 'in.bad[j] |= 1U', MIX),
    Bug('a barrier that not all reach', 'gpu/kernels/codec_kernels.cu', '  const float x = k < n ? v[k] : 0.0F;\n',
        '  if (k >= n) return;\n  const float x = v[k];\n', CODEC),
    Bug('a lane left out of a shuffle', ATTENTION, '''  if (line >= lines) return;  // the whole warp
  const auto last = static_cast<std::uint32_t>(line % positions);
  float* row''', '''  if (line >= lines || lane >= positions) return;
  const auto last = static_cast<std::uint32_t>(line % positions);
  float* row''', TEXT),
    Bug('half a warp in a sum', ATTENTION, 'o /= 2) v += __shfl', 'o /= 4) v += __shfl', TEXT),
]
INDICES = [
    Bug('the last element lost', VECTORS,
        'if (packs * N + t < piece.count)', 'if (packs * N + t + 1 < piece.count)', MIX),
    Bug('one element too many', 'gpu/layers/linear.cu', '''  if (k >= count) return;
  float z''', '''  if (k > count) return;
  float z''', '*Parity.TheLossOfALarge*/transformer'),
    Bug('one element too many, next to others', VECTORS,
        'if (k < count) v[k] += in[k];', 'if (k <= count) v[k] += in[k];',
        REPLICA),
    Bug('moments of the first stretch for all', TRANSFER,
        '  if (part.first != nullptr) part.first += done;\n', '', MIX),
    Bug('wrong index of a view', 'gpu/device/arithmetic.h', 'width - 1 - x : x)', 'width - x : x)', SAMPLES),
    Bug('labels of the first rows', SAMPLES_FILE, 'out[k] = labels[rows[k]];',
        'out[k] = labels[rows[k] * 0 + k];', SAMPLES),
    Bug('the token itself for the one after', SAMPLES_FILE,
        'following[k] = tokens[at + 1];', 'following[k] = tokens[at];', SAMPLES),
    Bug('a window lost', 'gpu/layers/pool.cu',
        '0 : (p.y - s.kernel) / s.stride + 1;', '0 : (p.y - s.kernel) / s.stride + 2;', LENET),
    Bug('zeros of a shortcut on the wrong side', 'gpu/layers/pool.cu', 'const bool zero = p.channel < before ||',
        'const bool zero = p.channel <= before ||', NORMED),
    Bug('own position left out', ATTENTION, 'for (std::uint32_t j = lane; j <= last; j += warp) dot',
        'for (std::uint32_t j = lane; j < last; j += warp) dot', TEXT),
    Bug('another share overwritten', 'gpu/layers/elementwise.cu', 'if (k < count) put(dx, k, dy[k], add);',
        'if (k < count) put(dx, k, dy[k], add && count == 0);', LONE),
    Bug('sums of another slice', 'gpu/layers/norm.cu', 'slices.sums[blockIdx.x] = total;',
        'slices.sums[channel * layout.slices] = total;', NORMED),
    Bug('moments never begun anew', 'gpu/layers/norm.cu', 'if (moments.count == 0) memory[c] = SumPair{};',
        'if (moments.count == 9) memory[c] = SumPair{};', 'EvaluatedTraining*'),
    Bug('a bias of the channel before', 'gpu/layers/elementwise.cu',
        'bias[divide(divide(k, pixels).by, channels).rest]',
        'bias[divide(divide(k, pixels).by + channels - 1, channels).rest]',
        LENET + ':*Parity.TheLossAfter*/lenet5'),
    Bug('the position for the token', 'gpu/layers/embedding.cu',
        'if (text.tokens[n] == token)', 'if (text.tokens[n] == token && n == token)', TEXT),
]
JOINED = [
    Bug('no fence before the last block comes', SUM, '    __threadfence();\n    last =', '    last =',
        '*LargeNorm*'),
    Bug('a sum before the last block has come', SUM, '== blocks - 1;', '== (blocks + 1) / 2;', '*LargeNorm*'),
    Bug('a count of blocks not set back', SUM, '    if (last) *counter = 0;\n', '', '*LargeNorm*'),
    Bug('the addend\'s gradient not behind the relu', 'gpu/layers/norm.cu',
        'const { return y == nullptr || y[k] > 0 ? dy[k] : 0.0F; }', 'const { return dy[k]; }', NORMED),
    Bug('another share of an addend lost', 'gpu/layers/norm.cu',
        'add_residual ? d_residual[k] + slope : slope', 'slope', NORMED),
    Bug('a matrix of another head', ATTENTION, 'matrix % heads * (channels / heads)', 'matrix % heads', TEXT),
    Bug('the gradient by all keys in the first place', ATTENTION, 'return d_in == nullptr ? nullptr : d_in + part',
        'return d_in == nullptr ? nullptr : d_in + part * (kind != dk)', TEXT),
    Bug('a stretch of the text lost', 'gpu/layers/embedding.cu',
        'for (std::uint32_t s = 0; s < text.stretches; ++s) sum',
        'for (std::uint32_t s = 1; s < text.stretches; ++s) sum', TEXT),
    Bug('a share of a bias lost', 'gpu/layers/linear.cu',
        's = lane; s < back.shares', 's = lane + 1; s < back.shares', TEXT),
    Bug('rows of another peer', SAMPLES_FILE, 'values.data() + places[row] * each',
        'values.data() + row * each % values.size()', SAMPLES),
]
OVERLAPPED = [
    Bug('a snapshot that waits for no change', REPLICA_FILE, '    settled_.hold(out_);\n', '', OVERLAP),
    Bug('a change that a snapshot does not hear of', REPLICA_FILE, '''    changed_ = true;
    return of(v).data();''', '    return of(v).data();', OVERLAP),
    Bug('a snapshot that waits for the gradient', REPLICA_FILE, '    settle();\n    trainer_.begin', '    trainer_.begin',
        OVERLAP),
    Bug('a gradient read before it is there', REPLICA_FILE, '    if (v == Vector::g) changed_ = true;\n', '', OVERLAP),
    Bug('a staged vector not waited for', INBOX, '  copy_.wait();\n', '', OVERLAP),
    Bug('a staged vector over another', INBOX, 'if (!place.piece.expired() || place', 'if (place', OVERLAP),
    Bug('an upload that waits for the gradient', 'gpu/replica/device_transfer.cpp',
        '  if (few_) inbox_.take(piece);\n', '  compute_.wait();\n  if (few_) inbox_.take(piece);\n', OVERLAP),
    Bug('a vector found that is there no more', INBOX, 'place.at == &piece && !place.piece.expired()', 'place.at == &piece',
        OVERLAP),
]
LOCKED = [
    Bug('memory of a neighbour locked to be written', 'gpu/device/device_memory.cpp',
        'only_read ? cudaHostRegisterReadOnly', 'only_read ? 0U', LOCKS),
    Bug('an error left behind by a lock', 'gpu/device/device_memory.cpp',
        '  if (status != cudaSuccess) cudaGetLastError();\n  return', '  return', LOCKS),
    Bug('a lock that was refused taken for one', PINNED, 'if (status == cudaSuccess) return true;', 'return true;', LOCKS),
    Bug('as much locked as a neighbour says', PINNED, 'if (pages.size() > most_locked) return', 'if (pages.empty()) return', LOCKS),
]
BUGS = STREAMS + GRAPHS_AND_MEMORY + THREADS + INDICES + JOINED + OVERLAPPED + LOCKED
