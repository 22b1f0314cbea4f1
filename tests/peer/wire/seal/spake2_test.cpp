#include "peer/wire/seal/spake2.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "optim/rng.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"

namespace gv {

/// Ends with the identities and scalars of a test.
struct Spake2Vectors {
  static Spake2 make(Spake2::Side side,
                     std::string_view joins,
                     std::string_view lobby,
                     std::string_view stretched,
                     std::string_view scalar,
                     std::string_view channel) {
    return Spake2(side, {joins, lobby}, Secret(stretched), Secret(scalar), channel);
  }
};

namespace {

using Side = Spake2::Side;
constexpr const char* channel = "exporter value of one connection";

std::string unhex(std::string_view digits) {
  std::string bytes;
  for (std::size_t k = 0; k + 1 < digits.size(); k += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(k, 2)), nullptr, 16));
  return bytes;
}

std::string hex(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits.empty() ? "-" : digits;
}

std::string drawn_bytes(Rng& rng, std::size_t n) {
  std::string bytes;
  for (std::size_t k = 0; k < n; ++k) bytes += static_cast<char>(rng.below(256));
  return bytes;
}

/// Returns bytes in the form of a stretched secret, without the time of scrypt.
Secret secret_of(int code) {
  return Secret(fmt::format("{:040}", code));
}

/// Returns whether both proofs fit. Fails if only one fits.
bool agree(Spake2& a, Spake2& b) {
  if (!a.take(b.share()) || !b.take(a.share())) return false;
  const bool one = a.fits(b.proof());
  EXPECT_EQ(b.fits(a.proof()), one);
  return one;
}

struct TestVector {
  const char *joins, *lobby, *w, *x, *y, *share_a, *share_b, *proof_a, *proof_b;
};

// RFC 9382, Appendix B: SPAKE2-P256-SHA256-HKDF-HMAC.
const std::vector<TestVector> rfc_vectors{
    {"server", "client", "2ee57912099d31560b3a44b1184b9b4866e904c49d12ac5042c97dca461b1a5f",
     "43dd0fd7215bdcb482879fca3220c6a968e66d70b1356cac18bb26c84a78d729",
     "dcb60106f276b02606d8ef0a328c02e4b629f84f89786af5befb0bc75b6e66be",
     "04a56fa807caaa53a4d28dbb9853b9815c61a411118a6fe516a8798434751470f9"
     "010153ac33d0d5f2047ffdb1a3e42c9b4e6be662766e1eeb4116988ede5f912c",
     "0406557e482bd03097ad0cbaa5df82115460d951e3451962f1eaf4367a420676d0"
     "9857ccbc522686c83d1852abfa8ed6e4a1155cf8f1543ceca528afb591a1e0b7",
     "58ad4aa88e0b60d5061eb6b5dd93e80d9c4f00d127c65b3b35b1b5281fee38f0",
     "d3e2e547f1ae04f2dbdbf0fc4b79f8ecff2dff314b5d32fe9fcef2fb26dc459b"},
    {"", "client", "0548d8729f730589e579b0475a582c1608138ddf7054b73b5381c7e883e2efae",
     "403abbe3b1b4b9ba17e3032849759d723939a27a27b9d921c500edde18ed654b",
     "903023b6598908936ea7c929bd761af6039577a9c3f9581064187c3049d87065",
     "04a897b769e681c62ac1c2357319a3d363f610839c4477720d24cbe32f5fd85f44"
     "fb92ba966578c1b712be6962498834078262caa5b441ecfa9d4a9485720e918a",
     "04e0f816fd1c35e22065d5556215c097e799390d16661c386e0ecc84593974a61b"
     "881a8c82327687d0501862970c64565560cb5671f696048050ca66ca5f8cc7fc",
     "47d29e6666af1b7dd450d571233085d7a9866e4d49d2645e2df975489521232b",
     "3313c5cefc361d27fb16847a91c2a73b766ffa90a4839122a9b70a2f6bd1d6df"},
    {"server", "", "626e0cdc7b14c9db3e52a0b1b3a768c98e37852d5db30febe0497b14eae8c254",
     "07adb3db6bc623d3399726bfdbfd3d15a58ea776ab8a308b00392621291f9633",
     "b6a4fc8dbb629d4ba51d6f91ed1532cf87adec98f25dd153a75accafafedec16",
     "04f88fb71c99bfffaea370966b7eb99cd4be0ff1a7d335caac4211c4afd855e2e1"
     "5a873b298503ad8ba1d9cbb9a392d2ba309b48bfd7879aefd0f2cea6009763b0",
     "040c269d6be017dccb15182ac6bfcd9e2a14de019dd587eaf4bdfd353f031101e7"
     "cca177f8eb362a6e83e7d5e729c0732e1b528879c086f39ba0f31a9661bd34db",
     "bc9f9bbe99f26d0b2260e6456e05a86196a3307ec6663a18bf6ac825736533b2",
     "c2370e1bf813b086dff0d834e74425a06e6390f48f5411900276dcccc5a297ec"},
    {"", "", "7bf46c454b4c1b25799527d896508afd5fc62ef4ec59db1efb49113063d70cca",
     "8cef65df64bb2d0f83540c53632de911b5b24b3eab6cc74a97609fd659e95473",
     "d7a66f64074a84652d8d623a92e20c9675c61cb5b4f6a0063e4648a2fdc02d53",
     "04a65b367a3f613cf9f0654b1b28a1e3a8a40387956c8ba6063e8658563890f46c"
     "a1ef6a676598889fc28de2950ab8120b79a5ef1ea4c9f44bc98f585634b46d66",
     "04589f13218822710d98d8b2123a079041052d9941b9cf88c6617ddb2fcc049466"
     "2eea8ba6b64692dc318250030c6af045cb738bc81ba35b043c3dcb46adf6f58d",
     "dfb4db8d48ae5a675963ea5e6c19d98d4ea028d8e898dad96ea19a80ade95dca",
     "d0f0609d1613138d354f7e95f19fb556bf52d751947241e8c7118df5ef0ae175"}};

TEST(Spake2, GivesTheVectorsOfTheRfc) {
  for (const TestVector& v : rfc_vectors) {
    const std::string stretched = std::string(8, '\0') + unhex(v.w);
    Spake2 a = Spake2Vectors::make(Side::joins, v.joins, v.lobby, stretched, unhex(v.x), "");
    Spake2 b = Spake2Vectors::make(Side::lobby, v.joins, v.lobby, stretched, unhex(v.y), "");
    EXPECT_EQ(hex(a.share()), v.share_a);
    EXPECT_EQ(hex(b.share()), v.share_b);
    ASSERT_TRUE(a.take(b.share()));
    ASSERT_TRUE(b.take(a.share()));
    EXPECT_EQ(hex(a.proof()), v.proof_a);
    EXPECT_EQ(hex(b.proof()), v.proof_b);
    EXPECT_TRUE(a.fits(b.proof()) && b.fits(a.proof()));
  }
}

/// 200 exchanges with drawn numbers, identities and channels, and stretched secrets. In 60
/// exchanges, one number is at an end: scalar 1, scalar order - 1, or the largest secret.
TEST(Spake2, AgreesWithAnIndependentScript) {
  const ScratchFolder scratch;
  const std::string cases = scratch.path() + "/cases";
  std::ofstream out(cases);
  Rng rng = Rng(20).derive("spake2");
  for (int k = 0; k < 200; ++k) {
    const std::string joins = k % 4 == 0 ? "grapevine join" : drawn_bytes(rng, rng.below(70));
    const std::string lobby = k % 4 == 0 ? "grapevine lobby" : drawn_bytes(rng, rng.below(70));
    const std::string stretched =
        k % 10 == 1 ? std::string(40, '\xff') : drawn_bytes(rng, 40 + rng.below(30));
    std::string x = drawn_bytes(rng, 32), y = drawn_bytes(rng, 32);
    x[0] = '\0';  // below the order
    y[0] = '\x7f';
    if (k % 10 == 2) x = unhex("0000000000000000000000000000000000000000000000000000000000000001");
    if (k % 10 == 3) y = unhex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550");
    const std::string bound = drawn_bytes(rng, rng.below(100));
    Spake2 a = Spake2Vectors::make(Side::joins, joins, lobby, stretched, x, bound);
    Spake2 b = Spake2Vectors::make(Side::lobby, joins, lobby, stretched, y, bound);
    ASSERT_TRUE(agree(a, b)) << k;
    out << "spake2";
    for (const std::string& word :
         {joins, lobby, stretched, x, y, bound, a.share(), b.share(), a.proof(), b.proof()})
      out << ' ' << hex(word);
    out << '\n';
  }
  for (const char* secret : {"731908", "000000", ""}) {
    const std::string salt = drawn_bytes(rng, rng.below(30));
    out << "scrypt " << hex(secret) << ' ' << hex(salt) << ' ' << hex(stretch(secret, salt))
        << '\n';
  }
  out.close();
  const std::string script = source_folder() + "/tests/peer/wire/seal/spake2_check.py";
  EXPECT_EQ(std::system(("/usr/bin/python3 '" + script + "' < '" + cases + "'").c_str()), 0);
}

TEST(Spake2, EndsOfOneCodeAgreeAndDrawNewShares) {
  for (int code = 0; code < 50; ++code) {
    Spake2 a(Side::joins, secret_of(code), channel), b(Side::lobby, secret_of(code), channel);
    Spake2 again(Side::joins, secret_of(code), channel);
    EXPECT_TRUE(agree(a, b));
    EXPECT_NE(a.share(), again.share());
    EXPECT_EQ(a.share().size(), 65U);
    EXPECT_EQ(a.proof().size(), 32U);
  }
}

TEST(Spake2, HasTheIdentitiesOfTheProgram) {
  const Secret secret = secret_of(1);
  const std::string one = unhex("0000000000000000000000000000000000000000000000000000000000000001");
  for (const bool right : {true, false}) {
    Spake2 a(Side::joins, secret, channel);
    Spake2 b =
        Spake2Vectors::make(Side::lobby, "grapevine join",
                            right ? "grapevine lobby" : "grapevine lobbz", secret, one, channel);
    EXPECT_EQ(agree(a, b), right);
  }
}

TEST(Spake2, RefusesAnotherCodeChannelOrSide) {
  for (int code = 1; code < 50; ++code) {
    Spake2 a(Side::joins, secret_of(code), channel), b(Side::lobby, secret_of(0), channel);
    EXPECT_FALSE(agree(a, b));
  }
  for (const std::string other : {"", "exporter value of one connectioN", "exporter value"}) {
    Spake2 a(Side::joins, secret_of(7), channel), b(Side::lobby, secret_of(7), other);
    EXPECT_FALSE(agree(a, b)) << "a man in the middle has two connections";
  }
  for (const Side side : {Side::joins, Side::lobby}) {
    Spake2 a(side, secret_of(7), channel), b(side, secret_of(7), channel);
    EXPECT_FALSE(agree(a, b));
  }
}

TEST(Spake2, RefusesItsOwnWords) {
  for (const Side side : {Side::joins, Side::lobby}) {
    Spake2 mirrored(side, secret_of(7), channel);
    EXPECT_FALSE(mirrored.take(mirrored.share()));
    Spake2 a(side, secret_of(7), channel);
    Spake2 b(side == Side::joins ? Side::lobby : Side::joins, secret_of(7), channel);
    EXPECT_TRUE(a.take(b.share()));
    EXPECT_FALSE(a.fits(a.proof()));
  }
}

TEST(Spake2, TakesOneShareOnly) {
  Spake2 a(Side::joins, secret_of(7), channel), b(Side::lobby, secret_of(7), channel);
  EXPECT_FALSE(a.take("no point"));
  EXPECT_FALSE(a.take(b.share()));
  ASSERT_TRUE(b.take(a.share()));
  EXPECT_FALSE(a.fits(b.proof())) << "one object is one attempt";
  Spake2 c(Side::joins, secret_of(7), channel), d(Side::lobby, secret_of(7), channel);
  EXPECT_FALSE(c.fits(std::string(32, '\0')));
  EXPECT_FALSE(c.fits(""));
  EXPECT_TRUE(agree(c, d));
  EXPECT_FALSE(c.take(a.share()));
  EXPECT_TRUE(c.fits(d.proof()));
  EXPECT_DEATH(static_cast<void>(a.proof()), "take\\(\\) the other end's share first");
}

std::string with_first(std::string share, char first) {
  share.front() = first;
  return share;
}

TEST(Spake2, RefusesWhatIsNoShare) {
  const Secret secret = secret_of(7);
  const std::string good = Spake2(Side::lobby, secret, channel).share();
  const auto taken = [&](const std::string& share) {
    return Spake2(Side::joins, secret, channel).take(share);
  };
  ASSERT_TRUE(taken(good));
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(taken(good.substr(0, length))) << length;
  EXPECT_FALSE(taken(good + '\0'));
  const char odd = static_cast<char>(good.back() & 1);
  EXPECT_FALSE(taken(with_first(good, static_cast<char>(6 + odd)))) << "hybrid form";
  EXPECT_FALSE(taken(with_first(good.substr(0, 33), static_cast<char>(2 + odd)))) << "compressed";
  EXPECT_FALSE(taken(std::string(1, '\0'))) << "the identity";
  EXPECT_FALSE(taken(std::string(65, '\0')));
  EXPECT_FALSE(taken(std::string(1, '\4') + std::string(64, '\0')));
  EXPECT_FALSE(taken(std::string(1, '\4') + std::string(64, '\xff')));
  Rng rng(7);
  for (int k = 0; k < 100; ++k) EXPECT_FALSE(taken(std::string(1, '\4') + drawn_bytes(rng, 64)));
}

/// The point with x = 0 is on the curve; its x plus the field's prime is another spelling.
TEST(Spake2, RefusesASecondSpellingOfAPoint) {
  const std::string y = "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4";
  const std::string zero(64, '0');
  const std::string prime = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
  EXPECT_TRUE(Spake2(Side::joins, secret_of(7), channel).take(unhex("04" + zero + y)));
  EXPECT_FALSE(Spake2(Side::joins, secret_of(7), channel).take(unhex("04" + prime + y)));
}

/// A share that is the mask alone makes the shared point the identity, whatever our scalar is.
TEST(Spake2, RefusesASharedIdentity) {
  const Secret secret = secret_of(7);
  const Spake2 mask = Spake2Vectors::make(Side::lobby, "grapevine join", "grapevine lobby", secret,
                                          std::string(32, '\0'), channel);
  EXPECT_FALSE(Spake2(Side::joins, secret, channel).take(mask.share()));
  EXPECT_TRUE(Spake2(Side::joins, secret_of(8), channel).take(mask.share()));
}

TEST(Spake2, RefusesEveryFlippedBit) {
  const Secret secret = secret_of(7);
  for (std::size_t bit = 0; bit < 65 * 8; ++bit) {
    Spake2 a(Side::joins, secret, channel), b(Side::lobby, secret, channel);
    std::string share = b.share();
    share[bit / 8] = static_cast<char>(share[bit / 8] ^ (1 << bit % 8));
    ASSERT_TRUE(b.take(a.share()));
    EXPECT_FALSE(a.take(share) && (a.fits(b.proof()) || b.fits(a.proof()))) << bit;
  }
  Spake2 a(Side::joins, secret, channel), b(Side::lobby, secret, channel);
  ASSERT_TRUE(agree(a, b));
  const std::string proof = b.proof();
  for (std::size_t bit = 0; bit < proof.size() * 8; ++bit) {
    std::string wrong = proof;
    wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(a.fits(wrong)) << bit;
  }
  for (std::size_t length = 0; length < proof.size(); ++length)
    EXPECT_FALSE(a.fits(proof.substr(0, length))) << length;
  EXPECT_FALSE(a.fits(proof + '\0'));
  EXPECT_TRUE(a.fits(proof));
}

}  // namespace
}  // namespace gv
