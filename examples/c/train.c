/* Least squares in C as a peer of a fleet: 40 samples y = 3 a - 2 b + 1, each peer learns from its share. By itself it is a
   fleet of one; `grapevine run examples/c/fleet.yaml` starts four of it. */
#include <stdio.h>
#include <string.h>

#include "grapevine_program.h"

enum { samples = 40 };

static float x[3], g[3]; /* w_a, w_b, the constant; their gradient */
static uint32_t rows[samples];

static float gradient(size_t count) {
  float loss = 0;
  memset(g, 0, sizeof g);
  for (size_t k = 0; k < count; ++k) {
    const float a = (float)(rows[k] % 5) / 4, b = (float)(rows[k] / 5) / 7;
    const float error = x[0] * a + x[1] * b + x[2] - (3 * a - 2 * b + 1);
    const float by[3] = {a, b, 1};
    for (int i = 0; i < 3; ++i) g[i] += error * by[i] / (float)count;
    loss += error * error / 2 / (float)count;
  }
  return loss;
}

int main(void) {
  const int64_t shape[] = {3};
  const gv_tensor tensor = {"x", "float32", 1, shape, NULL, x};
  void* const at[] = {g};
  size_t count = samples;
  gv_told told = {sizeof told, GV_HAS_RATE, 0, 0.5, 0, 0, 0};
  gv_peer* peer = NULL;
  int turn = gv_open(NULL, &peer);
  if (turn == GV_OK) turn = gv_rows(peer, NULL, samples, rows, &count);
  if (turn == GV_OK) turn = gv_attach(peer, &tensor, 1, NULL);
  if (turn >= GV_OK) turn = gv_begin(peer, NULL);
  for (int steps = 0; turn >= 0 && turn != GV_TURN_OVER && steps < 500;) {
    turn = gv_turn(peer, &told, 1000);
    told.has = 0;
    if (turn == GV_TURN_GRADIENT || turn == GV_TURN_GRADIENT_AND_STEP) {
      told.loss = gradient(count);
      told.has = GV_HAS_LOSS;
      if (gv_point(peer, GV_POINT_GRADIENTS, at, 1) < 0) break;
    }
    if (turn == GV_TURN_STEP || turn == GV_TURN_GRADIENT_AND_STEP) {
      for (int i = 0; i < 3; ++i) x[i] -= 0.5F * g[i];
      ++steps;
    }
  }
  if (turn >= 0) turn = gv_finish(peer, -1);
  if (turn < 0) fprintf(stderr, "%s\n", gv_error(peer));
  printf("%.3f a %+.3f b %+.3f\n", x[0], x[1], x[2]);
  gv_close(peer);
  return turn < 0;
}
