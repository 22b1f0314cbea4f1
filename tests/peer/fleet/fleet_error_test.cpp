#include <gtest/gtest.h>

#include "optim/printable.h"
#include "tests/peer/fleet/fleet_file.h"

namespace gv {
namespace {

struct Wrong {
  const char* text;  ///< appended to a good file's first four lines unless it begins with "version"
  const char* place;    ///< ":line:column", or "" if the place is the file
  const char* message;  ///< a part of the message
  const char* help;     ///< a part of the help, or ""
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.message;
}

class WrongFile : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongFile, IsRefusedWithItsPlace) {
  const Wrong& wrong = GetParam();
  const std::string text =
      std::string(wrong.text).starts_with("version") ? wrong.text : quadratic + wrong.text;
  const auto found = problems(text);
  ASSERT_FALSE(found.empty()) << text;
  EXPECT_NE(found[0].where.find(std::string("fleet.yaml") + wrong.place), std::string::npos)
      << found[0].where;
  EXPECT_NE(found[0].message.find(wrong.message), std::string::npos) << found[0].message;
  EXPECT_NE(found[0].help.find(wrong.help), std::string::npos) << found[0].help;
}

constexpr Wrong structure[] = {
    {"topolgy: ring\n", ":5:1", "unknown key `topolgy`", "did you mean `topology`?"},
    {"version: 1\npeers: 4\ndata: quadratic\n", ":1:1", "no condition ends the run", "rounds"},
    {"versoin: 1\n", ":5:1", "unknown key `versoin`", "version"},
    {"version: 2\nstop: { rounds: 3 }\ndata: quadratic\n", ":1:10", "version 2", "newer"},
    {"peers: 5\n", ":5:1", "duplicate key `peers`", "remove one"},
    {"seed: 010\n", ":5:7", "`010` is not a whole number", "leading zeros"},
    {"seed: 1_000\n", ":5:7", "not a whole number", ""},
    {"<<: { seed: 3 }\n", ":5:1", "merge keys", "--set"},
    {"name: &anchor x\n", ":5:", "anchors are not allowed", ""},
    {"version: 1\nname: &a [*a]\n", ":2:", "", ""},
    {"name: !!str x\n", ":5:", "tags are not allowed", ""},
    {"name: [a\n", ":6:", "not valid YAML", ""},
    {"name: ../../elsewhere\n", ":5:7", "`../../elsewhere` is a path", "letters"},
    {"name: \"..\"\n", ":5:7", "is a path", "letters"},
    {"name: \"\\e[2Jx\"\n", ":5:7", "not printable", "letters"},
    {"name: a\xFF\n", ":5:7", "not printable", "letters"},
    {"name: \"a\\u202Eb\"\n", ":5:7", "not printable", "letters"},
    {"name: \"a\\0b\"\n", ":5:7", "NUL", ""},
    {"peers\n", "", "", ""},
    {"hosts: { a: { port: 99999 } }\n", ":5:21", "out of range", ""},
    {"hosts: { a: { ssh: a;reboot } }\n", ":5:20", "`a;reboot` cannot be used in a command", ""},
    {"hosts: { a: { ssh: -oProxyCommand=x } }\n", ":5:20", "cannot be used in a command", ""},
    {"hosts: { a: { binary: a b } }\n", ":5:23", "cannot be used in a command", ""},
    {"launch: { leash: 1 s }\n", ":5:18", "too short a leash", "at least `5 s`"},
    {"network:\n", "", "", ""}};
INSTANTIATE_TEST_SUITE_P(Structure, WrongFile, ::testing::ValuesIn(structure));

constexpr Wrong network[] = {
    {"network: { latency: 5 }\n", ":5:21", "has no unit", "`5 ms`"},
    {"network: { latency: 5 mss }\n", ":5:21", "is not a duration", "`5 ms`"},
    {"network: { bandwidth: 100 Mbits }\n", ":5:23", "is not a bandwidth", "12.5 MB/s"},
    {"network: { shape: per-nick }\n", ":5:19", "not one of", "did you mean `per-nic`?"},
    {"network: { emulate: 1 }\n", ":5:21", "neither true nor false", "true"},
    {"network: { local: disk }\n", ":5:19", "`disk` is not one of shared, tcp", ""},
    {"network: { emulate: true, local: shared }\n", ":5:34",
     "shared memory and an emulated network exclude each other", "leave out `local`"},
    {"network: { latency: 1 ms, jitter: 2 ms }\n", ":5:35",
     "a jitter of 2 ms around a latency of 1 ms", "must not be the larger"},
    {"robust: { clip: maybe }\n", ":5:17", "`auto`, `none`, or a length", ""},
    {"robust: { clip: 0 }\n", ":5:17", "1e-09", ""},
    {"robust: { clipp: auto }\n", ":5:11", "unknown key `clipp`", "clip"},
    {"algorithm: choco-sgd\nrobust: { clip: auto }\n", ":6:17", "take `d-psgd`", ""},
    {"algorithm: { kind: d-psgd, codec: int8 }\nrobust: { clip: auto }\n", ":6:17",
     "leave out `codec`", ""},
    {"links: { between: [0, 1] }\n", ":5:8", "expected a list of links", "between"},
    {"links: { file: no.yaml }\n", ":5:16", "no.yaml", ""},
    {"links: { file: ~ }\n", ":5:10", "`file` has no value", ""},
    {"links: [{ between: [0, anna] }]\n", ":5:24", "no peer is on a host `anna`", "anna, ben"},
    {"links: [{ latency: 1 ms }]\n", ":5:9", "missing key `between`", "[0, 3]"},
    {"links: [{ between: [0, 4] }]\n", ":5:24", "out of range", ""},
    {"links: [{ between: [0, 1, 2] }]\n", ":5:20", "expected two peers", "[0, 3]"},
    {"links: [{ between: [1, 1] }]\n", ":5:20", "no link with itself", "[0, 3]"},
    {"links: [{ between: [0, 1], latencey: 1 ms }]\n", ":5:28", "unknown key `latencey`",
     "did you mean `latency`?"},
    {"links: [{ between: [0, 1] }, { between: [1, 0] }]\n", ":5:30",
     "the link between 0 and 1 is listed twice", "both directions"}};
INSTANTIATE_TEST_SUITE_P(Network, WrongFile, ::testing::ValuesIn(network));

constexpr Wrong topology[] = {
    {"version: 1\npeers: 20000\ndata: quadratic\nstop: { rounds: 1 }\ntopology: complete\n",
     ":5:", "20000 peers have 199990000 edges", ""},
    {"topology: { kind: torus, shape: [3, 3] }\n", ":5:", "torus 3x3 has 9 peers, the fleet has 4",
     ""},
    {"topology: { kind: base, k: 1, weights: fdla }\n", ":5:40", "`base` has its own weights",
     "leave `weights` out"},
    {"topology: { kind: base, kk: 1 }\n", ":5:25", "unknown key `kk` in `topology`", "k"},
    {"topology: random-matching:k=2\n", ":5:11", "no parameter `k`", ""},
    {"topology: { kind: matcha, graph: rink }\n", ":5:34", "rink", ""},
    {"topology: { kind: od-equi-dyn, eta: 0 }\n", ":5:", "eta must lie in (0, 1]", ""},
    {"topology: { kind: od-equi-dyn, m: 1, seed: 0 }\n", ":5:", "connected", "seed"},
    {"topology: { kind: random-regular, degree: 5 }\n", ":5:", "smaller than the number of peers",
     ""},
    {"version: 1\npeers: 5\ndata: quadratic\nstop: { rounds: 1 }\ntopology: { kind: "
     "random-regular, degree: 3 }\n",
     ":5:", "must be even", ""},
    {"topology: trous:2x2\n", ":5:11", "did you mean `torus`?", ""},
    {"topology: torus:2\n", ":5:11", "ROWSxCOLUMNS", ""},
    {"topology: torus:3x3\n", ":5:11", "torus 3x3 has 9 peers, the fleet has 4", ""},
    {"topology: ring:k=2\n", ":5:11", "ring has no parameter `k`", ""},
    {"topology: rign\n", ":5:11", "`rign` is not one of", "did you mean `ring`?"},
    {"topology: { kind: ring, shape: [2, 2] }\n", ":5:25", "unknown key `shape`", ""},
    {"topology: { kind: erdos-renyi, p: 0 }\n", ":5:", "not connected", "seed"},
    {"topology: { kind: ring, weights: metropolys }\n", ":5:34", "not one of", "metropolis"},
    {"topology: { kind: ring, weights: fdal }\n", ":5:34", "not one of", "fdla"},
    {"topology: { kind: exponential, weights: fdla }\n", ":5:", "is directed", ""},
    {"topology: { kind: erdos-renyi, p: 0 }\n", ":5:", "4 components: {0} {1}", "seed"},
    {"topology: { kind: ring, weights: 'file:nowhere.txt' }\n", ":5:", "cannot be opened", ""}};
INSTANTIATE_TEST_SUITE_P(Topology, WrongFile, ::testing::ValuesIn(topology));

/// Fleet files that must be refused before their data are drawn.
constexpr Wrong drawn[] = {
    {"version: 1\npeers: 4\nstop: { rounds: 1 }\nmodel: softmax\n"
     "data: { kind: blobs, train: 100000000, features: 50 }\n",
     ":5:", "samples of 50 numbers are too many to draw: at most 500000000 numbers",
     "fewer samples"},
    {"version: 1\npeers: 4\nstop: { rounds: 1 }\nmodel: softmax\n"
     "data: { kind: linear, train: 1000000, features: 1000000 }\n",
     ":5:", "too many to draw", ""},
    {"version: 1\npeers: 4\nstop: { rounds: 1 }\nmodel: softmax\n"
     "data: { kind: digits, train: 100000000 }\n",
     ":5:", "too many to draw", ""}};
INSTANTIATE_TEST_SUITE_P(Drawn, WrongFile, ::testing::ValuesIn(drawn));

constexpr Wrong training[] = {
    {"train: { optimizer: { momentum: 0.9, nesterov: no } }\n", ":5:48", "neither true nor false",
     "true"},
    {"train: { batch: 0 }\n", ":5:17", "out of range", ""},
    {"train: { optimizer: { lr: fast } }\n", ":5:27", "`fast` is not a number", ""},
    {"train: { optimizer: { lr: nan } }\n", ":5:27", "is not a number", ""},
    {"train: { optimizer: { nesterov: true } }\n", ":5:33", "needs a momentum", ""},
    {"model: mlp\n", ":5:8", "does not fit data `quadratic`", "quadratic"},
    {"version: 1\nstop: { rounds: 1 }\ndata: blobs\nmodel: lenet5\n", ":4:8",
     "model `lenet5` does not fit data `blobs`", "use `mlp` or `softmax`"},
    {"version: 1\nstop: { rounds: 1 }\nmodel: { kind: resnet20, norm: layer }\n", ":3:32",
     "not one of batch, group", ""},
    {"version: 1\nstop: { rounds: 1 }\nmodel: { kind: mlp, norm: group }\n", ":3:21",
     "unknown key `norm`", ""},
    {"version: 1\nstop: { rounds: 1 }\nmodel: transformer\n", ":3:8", "does not fit data `digits`",
     "`resnet20`"},
    {"version: 1\nstop: { rounds: 1 }\ndata: { kind: text, file: fleet.yaml }\n"
     "model: { kind: transformer, width: 10, heads: 3 }\n",
     ":4:47", "3 heads do not divide a width of 10", "width / heads"},
    {"evaluate: { every: 10 }\n", ":5:20", "not a count with its unit", "rounds"},
    {"evaluate: { every: 0 s }\n", ":5:20", "not a count with its unit", "rounds"},
    {"evaluate: { every: 0.1 us }\n", ":5:20", "too short a time", "1 us"},
    {"evaluate: { every: 1e12 s }\n", ":5:20", "longer than 30 years", ""},
    {"record: { rows: 1 }\n", ":5:17", "1", ""},
    {"record: { row: 10 }\n", ":5:11", "unknown key `row`", "rows"},
    {"record: sometimes\n", ":5:9", "sometimes", ""},
    {"version: 1\ndata: quadratic\nstop: { target: { accuracy: 0.9, of: local } }\n", ":3:38",
     "`of: local` is about a loss", "worst"},
    {"version: 1\ndata: quadratic\nstop: { target: { loss: 0.9, of: worst } }\n", ":3:34",
     "`of: worst` is about an accuracy", "local"},
    {"version: 1\ndata: quadratic\nstop: { target: { loss: 1, accuracy: 0.9 } }\n", ":3:17",
     "expected one target", "accuracy: 0.88"},
    {"version: 1\ndata: quadratic\nstop: { target: { loss: 1, for: 0 } }\n", ":3:33", "0", ""},
    {"version: 1\ndata: quadratic\nstop: { target: 0.9 }\n", ":3:17", "keys and values", ""},
    {"algorithm: { kind: d-psgd, order: lion }\n", ":5:35", "not one of lian, atc, cta", "lian"},
    {"algorithm: all-reduce\ntrain: { local_steps: 4 }\n", ":5:12", "local_steps must be 1", ""},
    {"algorithm: { kind: slowmo, betta: 0.5 }\n", ":5:28", "unknown key `betta`", "beta"},
    {"algorithm: { kind: slowmo, beta: 1.5 }\n", ":5:34", "1.5", ""},
    {"algorithm: { kind: gossip-pga, every: 2.5 }\n", ":5:39", "2.5", ""},
    {"algorithm: { kind: d-psgd, beta: 0.5 }\n", ":5:28", "unknown key `beta`", ""},
    {"algorithm: d2\n", ":5:12", "lambda_n", ""},
    {"algorithm: { kind: choco-sgd, codec: { kind: top-k, fraction: 0 } }\n", ":5:63", "0", ""},
    {"algorithm: { kind: choco-sgd, codec: top-n }\n", ":5:38", "not one of fp16", "top-k"},
    {"algorithm: { kind: choco-sgd, codec: { kind: int8, fraction: 0.5 } }\n", ":5:52",
     "unknown key `fraction`", ""},
    {"algorithm: { kind: parameter-server, optimizer: adaptive-revision }\n", ":5:49",
     "not one of sgd, adagrad", ""},
    {"attackers: { count: 4 }\n", ":5:12", "leave no honest peer", ""},
    {"attackers: { count: 1, kind: alien }\n", ":5:30", "not one of", "alie"},
    {"algorithm: { kind: d-psgd, codec: top-k }\n", ":5:35", "never makes up for it", ""},
    {"algorithm: { kind: local-sgd, codec: int8 }\n", ":5:38", "takes no codec", ""},
    {"version: 1\npeers: 4\nstop: { rounds: 1 }\ndata: { kind: idx, dir: nowhere }\n", ":4:25",
     "no such folder", "fallback: digits"},
    {"version: 1\npeers: 4\nstop: { rounds: 1 }\ndata: { kind: digits, partition: { kind: "
     "quantity, sizes: [1, 2] } }\n",
     ":4:59", "2 sizes for 4 peers", ""}};
INSTANTIATE_TEST_SUITE_P(Training, WrongFile, ::testing::ValuesIn(training));

TEST(Fleet, AllErrorsAreShownAtOnce) {
  const auto found = problems(
      "version: 1\ntopolgy: ring\nnetwork: { bandwidth: 100 Mbits, latency: 3 }\nstop: { rounds: 0 "
      "}\n");
  ASSERT_EQ(found.size(), 4U);
  try {
    read("version: 1\ntopolgy: ring\nstop: { rounds: 10 }\n");
  } catch (const FleetError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("error: unknown key `topolgy`\n  --> "), std::string::npos) << text;
    EXPECT_NE(text.find("2| topolgy: ring\n  | ^^^^^^^\n"), std::string::npos) << text;
    EXPECT_NE(text.find("= help: did you mean `topology`?"), std::string::npos) << text;
    EXPECT_NE(text.find("1 error in "), std::string::npos) << text;
  }
}

TEST(Fleet, DeepAndLargeFilesAreRefusedWithoutHarm) {
  const auto deep =
      problems("version: 1\nx-deep: " + std::string(5000, '[') + std::string(5000, ']') + "\n");
  ASSERT_FALSE(deep.empty());
  EXPECT_FALSE(problems("version: 1\nname: " + std::string(2U << 20, 'a') + "\n").empty());
  EXPECT_THROW(read_fleet("/nonexistent/fleet.yaml", {}, nullptr), FleetError);
}

/// Returns the text that the user sees. It must fit a screen even if every line is wrong.
std::string screen_of(const std::string& text) {
  try {
    read(text);
  } catch (const FleetError& e) {
    return e.what();
  }
  return "";
}

TEST(HostileFile, ShowsTheFirstProblemsAndCountsTheOthers) {
  std::string keys = quadratic;
  for (int k = 0; k < 100'000; ++k) keys.append("k").append(std::to_string(k)).append(": 1\n");
  const std::string screen = screen_of(keys);
  EXPECT_LT(screen.size(), 20'000U);
  EXPECT_NE(screen.find("100000 errors in"), std::string::npos) << screen.substr(0, 500);
  std::string aliases = "version: 1\nname: &a x\nseed: [";
  while (aliases.size() < 1'000'000) aliases += "*a, ";
  EXPECT_LT(screen_of(aliases + "*a]\n").size(), 20'000U);
  EXPECT_LT(screen_of(quadratic + "seed: " + std::string(900'000, 'x') + "\n").size(), 20'000U);
}

TEST(HostileFile, ControlsNoTerminal) {
  const std::string screen = screen_of(quadratic + "\x1B[2J: \x1B]0;x\x07\nseed: \"\\e[1m\"\n");
  EXPECT_FALSE(screen.empty());
  EXPECT_EQ(screen.find('\x1B'), std::string::npos);
  EXPECT_EQ(screen.find('\x07'), std::string::npos);
}

TEST(HostileFile, TooManyPeersTakeNoMemory) {
  std::string text = "version: 1\ndata: quadratic\nstop: { rounds: 1 }\npeers:\n";
  for (int k = 0; k < 40; ++k) text += "  - { count: 1000000 }\n";
  const auto found = problems(text);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].message.find("more than 1000000 peers"), std::string::npos);
  EXPECT_NE(found[0].where.find(":6:"), std::string::npos) << "the second group";
}

TEST(Printable, IsUtf8WithoutControlCharacters) {
  for (const char* good : {"", "ring8", "gr\xC3\xBC\xC3\x9F", "\xF0\x9F\x8D\x87", "\xEF\xBF\xBD",
                           "\xD9\x85\xDB\x8C\xE2\x80\x8C\xD8\xB4\xD9\x88\xD8\xAF"})
    EXPECT_TRUE(is_printable(good)) << good;
  for (const char* bad : {"\n", "\x1B", "\x7F", "\x80",
                          "\xC2\x9B",          // a control sequence in one character
                          "\xC0\xAF",          // overlong
                          "\xC3",              // cut off
                          "\xED\xA0\x80",      // a surrogate
                          "\xF4\x90\x80\x80",  // above U+10FFFF
                          "\xE2\x80\xAE",      // what follows runs from right to left
                          "\xE2\x81\xA6",      // the same, isolated
                          "\xD8\x9C",          // a mark of direction
                          "\xE2\x80\x8B",      // a space without width
                          "\xE2\x80\xA8",      // the end of a line
                          "\xEF\xBB\xBF"})     // a byte order mark
    EXPECT_FALSE(is_printable(bad));
  EXPECT_EQ(printable("a\x1B[b\n\xFF", 100), "a?[b\n?");
  EXPECT_EQ(printable("gr\xC3\xBC", 3), "gr...");
  EXPECT_EQ(printable("harmless\xE2\x80\xAEgnp.exe", 100), "harmless???gnp.exe");
}

}  // namespace
}  // namespace gv
