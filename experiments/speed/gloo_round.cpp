// Gloo's time for one round on a ring of this machine, TCP over loopback, one process a peer.
//
//   gloo_round neighbors|ring|chunked|halving PEERS FLOATS ROUNDS
//
// neighbors: x to both neighbours of a ring over unbound buffers, then the mean of the three.
// The others are Gloo's all-reduces. A quarter as many rounds come first and are not measured.
// Prints the seconds of a round of the slowest process. Every result is checked.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floats.h"

namespace {

using Context = std::shared_ptr<gloo::rendezvous::Context>;

struct Ring {
  Context context;
  int rank, peers;
  Floats x, y, left, right;
  int previous() const { return (rank + peers - 1) % peers; }
  int next() const { return (rank + 1) % peers; }
};

/// The state that the processes share: their times, and a barrier that does not go through Gloo,
/// whose own shrinks the socket buffers that are measured afterwards.
struct Shared {
  pthread_barrier_t barrier;
  double seconds[64];
};

std::function<void()> neighbors(Ring& ring) {
  const std::size_t bytes = ring.x.size() * sizeof(float);
  const auto buffer = [&](Floats& v) {
    return std::shared_ptr(ring.context->createUnboundBuffer(v.data(), bytes));
  };
  const auto out = buffer(ring.x), out_too = buffer(ring.x);
  const auto left = buffer(ring.left), right = buffer(ring.right);
  return [=, &ring] {
    left->recv(ring.previous(), 1);
    right->recv(ring.next(), 2);
    out->send(ring.next(), 1);
    out_too->send(ring.previous(), 2);
    left->waitRecv();
    right->waitRecv();
    out->waitSend();
    out_too->waitSend();
    for (std::size_t i = 0; i < ring.x.size(); ++i)
      ring.y[i] = (ring.x[i] + ring.left[i] + ring.right[i]) * (1.0F / 3);
  };
}

std::function<void()> all_reduce(Ring& ring, const std::string& way) {
  std::vector<float*> x{ring.x.data()};
  const auto count = static_cast<int>(ring.x.size());
  std::shared_ptr<gloo::Algorithm> algorithm;
  if (way == "chunked")
    algorithm = std::make_shared<gloo::AllreduceRingChunked<float>>(ring.context, x, count);
  if (way == "halving")
    algorithm = std::make_shared<gloo::AllreduceHalvingDoubling<float>>(ring.context, x, count);
  if (algorithm) return [algorithm] { algorithm->run(); };
  return [&ring, tag = 10U]() mutable {
    gloo::AllreduceOptions options(ring.context);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(ring.x.data(), ring.x.size());
    options.setReduceFunction([](void* sum, const void* a, const void* b, std::size_t n) {
      gloo::sum<float>(sum, a, b, n);
    });
    options.setTag(tag++);
    gloo::allreduce(options);
  };
}

void run(Ring& ring, const std::string& way, int rounds, Shared& shared) {
  const bool averages = way == "neighbors";
  const auto round = averages ? neighbors(ring) : all_reduce(ring, way);
  round();
  const int n = ring.peers;
  const float sum = averages ? static_cast<float>(ring.rank + ring.previous() + ring.next() + 3) / 3
                             : static_cast<float>(n * (n + 1)) / 2;
  const float got = averages ? ring.y.back() : ring.x.back();
  if (std::abs(got - sum) > 1e-3F) std::exit(3);
  std::fill(ring.x.begin(), ring.x.end(), 0.0F);  // so that sums stay finite
  for (int k = 0; k < rounds / 4; ++k) round();
  pthread_barrier_wait(&shared.barrier);
  const auto began = std::chrono::steady_clock::now();
  for (int k = 0; k < rounds; ++k) round();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
  shared.seconds[ring.rank] = spent.count() / rounds;
  pthread_barrier_wait(&shared.barrier);
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  const std::string way = words[1];
  const int peers = std::atoi(words[2]);
  const auto floats = static_cast<std::size_t>(std::atoll(words[3]));
  const int rounds = std::atoi(words[4]);
  std::string folder = std::filesystem::temp_directory_path() / "gloo-round-XXXXXX";
  if (peers < 3 || peers > 64 || mkdtemp(folder.data()) == nullptr) return 2;
  auto* const shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pthread_barrierattr_t between_processes;
  pthread_barrierattr_init(&between_processes);
  pthread_barrierattr_setpshared(&between_processes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &between_processes, static_cast<unsigned>(peers));
  for (int rank = 0; rank < peers; ++rank) {
    if (fork() != 0) continue;
    auto device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr("127.0.0.1"));
    gloo::rendezvous::FileStore store(folder);
    const auto context = std::make_shared<gloo::rendezvous::Context>(rank, peers);
    context->connectFullMesh(store, device);
    Ring ring{
        context,        rank,           peers,         Floats(floats, static_cast<float>(rank + 1)),
        Floats(floats), Floats(floats), Floats(floats)};
    run(ring, way, rounds, *shared);
    std::_Exit(0);
  }
  int failures = 0;
  for (int rank = 0; rank < peers; ++rank) {
    int status = 0;
    wait(&status);
    failures += status != 0 ? 1 : 0;
  }
  std::filesystem::remove_all(folder);
  if (failures > 0) return 1;
  std::printf("%.9f\n", *std::max_element(shared->seconds, shared->seconds + peers));
  return 0;
}
