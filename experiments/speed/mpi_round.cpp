// Open MPI's time for one round on a ring.
//
//   mpirun -np PEERS mpi_round neighbors|all-reduce FLOATS ROUNDS
//
// neighbors: x to both neighbours by Isend and Irecv, then the mean of the three; all-reduce:
// MPI_Allreduce. A quarter as many rounds come first and are not measured. Prints the seconds of a
// round of the slowest process. Every result is checked.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <mpi.h>

#include "floats.h"

int main(int count, char** words) {
  MPI_Init(&count, &words);
  if (count != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const bool averages = std::string(words[1]) == "neighbors";
  const int floats = std::atoi(words[2]);
  const int rounds = std::atoi(words[3]);
  int rank = 0, n = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const int previous = (rank + n - 1) % n;
  const int next = (rank + 1) % n;
  Floats x(static_cast<std::size_t>(floats), static_cast<float>(rank + 1));
  Floats y(x.size()), left(x.size()), right(x.size());
  const auto round = [&] {
    if (!averages) {
      MPI_Allreduce(MPI_IN_PLACE, x.data(), floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      return;
    }
    MPI_Request requests[4];
    MPI_Irecv(left.data(), floats, MPI_FLOAT, previous, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(right.data(), floats, MPI_FLOAT, next, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(x.data(), floats, MPI_FLOAT, next, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(x.data(), floats, MPI_FLOAT, previous, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] + left[i] + right[i]) * (1.0F / 3);
  };
  round();
  const float sum = averages ? static_cast<float>(rank + previous + next + 3) / 3
                             : static_cast<float>(n * (n + 1)) / 2;
  if (std::abs((averages ? y.back() : x.back()) - sum) > 1e-3F) MPI_Abort(MPI_COMM_WORLD, 3);
  std::fill(x.begin(), x.end(), 0.0F);  // so that sums stay finite
  for (int k = 0; k < rounds / 4; ++k) round();
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (int k = 0; k < rounds; ++k) round();
  double seconds = (MPI_Wtime() - began) / rounds;
  double slowest = 0;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%.9f\n", slowest);
  MPI_Finalize();
}
