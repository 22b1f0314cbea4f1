// A peer with gradients of its own: f_i(x) = |x - i|^2 / 2 in seven numbers, so the fleet's minimum
// is at the mean of all i. Each product is exact. Words: `mute` evaluates nothing; `silent` does
// not answer an evaluation; `hangs=FILE` creates FILE and evaluates for ever; `dies=K` ends with
// exit 9 after K steps; `steps=K` ends well after K; `slow=MS` takes this long for a gradient. The
// next ones apply to peer 0 alone, after five steps: `closes=FD` closes this descriptor; `huge`
// hands over a file in memory of 4 TiB; `forks=FILE` leaves a child that stays alive, and writes
// its process number to FILE.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "grapevine_program.h"

namespace {

struct Words {
  bool mute = false, silent = false, huge = false;
  std::string hangs, forks;
  long dies = -1, steps = -1, slow = 0, closes = -1;
};

Words read(int argc, char** argv) {
  Words words;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const std::string value = word.substr(word.find('=') + 1);
    if (word == "mute") words.mute = true;
    if (word == "silent") words.silent = true;
    if (word == "huge") words.huge = true;
    if (word.starts_with("hangs=")) words.hangs = value;
    if (word.starts_with("forks=")) words.forks = value;
    if (word.starts_with("closes=")) words.closes = std::atol(value.c_str());
    if (word.starts_with("dies=")) words.dies = std::atol(value.c_str());
    if (word.starts_with("steps=")) words.steps = std::atol(value.c_str());
    if (word.starts_with("slow=")) words.slow = std::atol(value.c_str());
  }
  return words;
}

float w[6] = {1, 2, 3, 4, 5, 6}, b = 7, gw[6], gb;
gv_peer* peer = nullptr;
char info[1 << 16];
long steps = 0;
bool misbehaved = false;

long number(const char* key) {
  const char* const at = std::strstr(info, key);
  return at == nullptr ? -1 : std::strtol(at + std::strlen(key), nullptr, 10);
}

bool is(const char* text) {
  return std::strstr(info, text) != nullptr;
}

double loss_beside(double center) {
  double loss = (b - center) * (b - center) / 2;
  for (const float x : w) loss += (x - center) * (x - center) / 2;
  return loss;
}

int gradient(gv_told& told, long slow) {
  const auto center = static_cast<float>(number("\"id\":"));
  for (int k = 0; k < 6; ++k) gw[k] = w[k] - center;
  gb = b - center;
  told.loss = loss_beside(center);
  told.has = GV_HAS_LOSS;
  if (slow > 0) ::usleep(static_cast<useconds_t>(slow * 1000));
  void* const gradients[] = {gw, &gb};
  return gv_point(peer, GV_POINT_GRADIENTS, gradients, 2);
}

void step() {
  ++steps;
  if (is("\"step_is_servers\":true")) return;
  for (int k = 0; k < 6; ++k) w[k] -= 0.25F * gw[k];
  b -= 0.25F * gb;
}

void evaluate(gv_told& told, const Words& words) {
  if (!words.hangs.empty() && is("\"task\":\"ask\"")) {
    std::ofstream(words.hangs) << "asked";
    ::pause();
  }
  if (words.silent) return;
  told.test_loss = loss_beside(static_cast<double>(number("\"peers\":") - 1) / 2);
  told.has = GV_HAS_TEST_LOSS;
}

int attach(const Words& words) {
  const int64_t shape[] = {2, 3};
  const gv_tensor tensors[] = {{"fc.weight", "float32", 2, shape, nullptr, w},
                               {"fc.bias", "float32", 0, nullptr, nullptr, &b}};
  const int port =
      gv_attach(peer, tensors, 2,
                words.mute ? R"({"saves": true})" : R"({"saves": true, "evaluates": true})");
  size_t room = sizeof steps;
  if (port >= GV_OK && gv_state(peer, 0, &steps, &room) == GV_OK && room == sizeof steps)
    std::fprintf(stderr, "goes on after %ld steps\n", steps);
  return port;
}

void hand_over_4_tib() {
  constexpr off_t bytes = off_t{4} << 40;
  const int file = ::memfd_create("huge", 0);
  if (::ftruncate(file, bytes) != 0) std::perror("ftruncate");
  char last = 0;
  iovec content{&last, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof file)] = {};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(rights), &file, sizeof file);
  if (::sendmsg(3, &message, 0) < 0) std::perror("sendmsg");
}

void leave_a_child(const std::string& file) {
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  std::ofstream(file) << child;
}

void misbehave(const Words& words) {
  if (words.closes >= 0) ::close(static_cast<int>(words.closes));
  if (words.huge) hand_over_4_tib();
  if (!words.forks.empty()) leave_a_child(words.forks);
}

int train(const Words& words) {
  gv_told told = {sizeof told, GV_HAS_RATE, 0, 0.25, 0, 0, 0};
  for (;;) {
    if (steps == words.steps) return GV_OK;
    if (steps == words.dies && number("\"id\":") == 0 && is("\"task\":\"peer\"")) ::_exit(9);
    if (steps == 5 && !misbehaved && number("\"id\":") == 0 && is("\"task\":\"peer\"")) {
      misbehaved = true;
      misbehave(words);
    }
    const int turn = gv_turn(peer, &told, 1000);
    told.has = 0;
    const bool both = turn == GV_TURN_GRADIENT_AND_STEP;
    if ((turn == GV_TURN_GRADIENT || both) && gradient(told, words.slow) < 0) return GV_E_USE;
    if (turn == GV_TURN_STEP || both) step();
    if (turn == GV_TURN_EVALUATE) evaluate(told, words);
    size_t bytes = sizeof steps;
    if (turn == GV_TURN_SAVE) gv_state(peer, 1, &steps, &bytes);
    if (turn == GV_TURN_OVER || turn < 0) return turn;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Words words = read(argc, argv);
  std::printf("a program prints what it likes\n");
  int code = gv_open(nullptr, &peer);
  if (code == GV_OK) code = gv_info(peer, info, sizeof info);
  if (code == GV_OK) code = attach(words);
  if (code >= GV_OK) code = gv_begin(peer, nullptr);
  if (code == GV_OK) code = train(words);
  if (code >= GV_OK) code = gv_finish(peer, -1);
  if (code < GV_OK) std::fprintf(stderr, "error: %s\n", gv_error(peer));
  gv_close(peer);
  return code < GV_OK ? 1 : 0;
}
