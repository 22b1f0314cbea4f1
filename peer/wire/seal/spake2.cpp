#include "peer/wire/seal/spake2.h"

#include <cstddef>
#include <memory>
#include <utility>

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>

#include "optim/check.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {
namespace {

using OwnedGroup = std::unique_ptr<EC_GROUP, Released<EC_GROUP_free>>;
using OwnedPoint = std::unique_ptr<EC_POINT, Released<EC_POINT_clear_free>>;
using OwnedNumber = std::unique_ptr<BIGNUM, Released<BN_clear_free>>;
using OwnedNumbers = std::unique_ptr<BN_CTX, Released<BN_CTX_free>>;

constexpr std::size_t scalar_bytes = 32;
constexpr std::size_t point_bytes = 65;
constexpr std::size_t hash_bytes = 32;
constexpr std::size_t key_bytes = hash_bytes / 2;  ///< the RFC's Ke, Ka, KcA and KcB
/// The order has 256 bits; 64 more leave no bias after the reduction (RFC 9382, 3.2).
constexpr std::size_t stretched_bytes = scalar_bytes + 8;
constexpr char uncompressed = 4;

// M and N of RFC 9382, 4, for P-256. Both are hashes, so neither has a known discrete logarithm:
// Appendix A derives them from the text "1.2.840.10045.3.1.7 point generation seed (M)" or "(N)".
constexpr const char* point_m =
    "02886E2F97ACE46E55BA9DD7242579F2993B64E16EF3DCAB95AFD497333D8FA12F";
constexpr const char* point_n =
    "03D8BBD6C639C62937B04D997F38C3770719C629D7014D49A24B4F98BAA1292B49";

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(Secret& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

/// P-256. One multiplication at a time, because OpenSSL's sums of two products are not in constant
/// time on every processor.
class Curve {
 public:
  Curve() : group_(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)), numbers_(BN_CTX_new()) {
    openssl_must(group_ && numbers_, "P-256");
  }

  OwnedNumber number(std::string_view big_endian) const {
    OwnedNumber number(
        BN_bin2bn(bytes_of(big_endian), static_cast<int>(big_endian.size()), nullptr));
    openssl_must(number != nullptr, "a number");
    BN_set_flags(number.get(), BN_FLG_CONSTTIME);
    return number;
  }

  Secret scalar(const BIGNUM& number) const {
    Secret bytes(scalar_bytes, '\0');
    openssl_must(BN_bn2binpad(&number, bytes_of(bytes), scalar_bytes) == scalar_bytes, "a scalar");
    return bytes;
  }

  Secret scalar_of(std::string_view big_endian) const {
    const OwnedNumber reduced = number("");
    const OwnedNumber whole = number(big_endian);
    openssl_must(BN_mod(reduced.get(), whole.get(), order(), numbers_.get()) == 1, "a residue");
    return scalar(*reduced);
  }

  Secret random_scalar() const {
    const OwnedNumber drawn = number("");
    openssl_must(BN_priv_rand_range(drawn.get(), order()) == 1, "random numbers");
    return scalar(*drawn);
  }

  /// Returns w*M or w*N, which hides the point of this side in its share.
  OwnedPoint mask(Spake2::Side side, std::string_view w) const {
    const char* const hex = side == Spake2::Side::joins ? point_m : point_n;
    const OwnedPoint constant(EC_POINT_hex2point(group_.get(), hex, nullptr, numbers_.get()));
    openssl_must(constant != nullptr, "a constant of SPAKE2");
    return times(w, constant.get());
  }

  /// Returns null if the bytes are not an uncompressed point of the curve. The cofactor is 1, so
  /// every point is of the group; the identity has no such bytes.
  OwnedPoint point(std::string_view bytes) const {
    if (bytes.size() != point_bytes || bytes.front() != uncompressed) return nullptr;
    OwnedPoint point = identity();
    const bool on_curve = EC_POINT_oct2point(group_.get(), point.get(), bytes_of(bytes),
                                             bytes.size(), numbers_.get()) == 1;
    if (on_curve) return point;
    ERR_clear_error();
    return nullptr;
  }

  Secret bytes(const EC_POINT& point) const {
    Secret bytes(point_bytes, '\0');
    openssl_must(EC_POINT_point2oct(group_.get(), &point, POINT_CONVERSION_UNCOMPRESSED,
                                    bytes_of(bytes), bytes.size(), numbers_.get()) == point_bytes,
                 "a point");
    return bytes;
  }

  /// Multiplies the point, or the generator if it is null.
  OwnedPoint times(std::string_view scalar, const EC_POINT* point) const {
    OwnedPoint product = identity();
    const OwnedNumber k = number(scalar);
    const BIGNUM* const of_generator = point == nullptr ? k.get() : nullptr;
    const BIGNUM* const of_point = point == nullptr ? nullptr : k.get();
    openssl_must(EC_POINT_mul(group_.get(), product.get(), of_generator, point, of_point,
                              numbers_.get()) == 1,
                 "a multiple of a point");
    return product;
  }

  OwnedPoint plus(const EC_POINT& a, const EC_POINT& b) const {
    OwnedPoint sum = identity();
    openssl_must(EC_POINT_add(group_.get(), sum.get(), &a, &b, numbers_.get()) == 1, "a sum");
    return sum;
  }

  void negate(EC_POINT& point) const {
    openssl_must(EC_POINT_invert(group_.get(), &point, numbers_.get()) == 1, "an inverse");
  }

  bool is_identity(const EC_POINT& point) const {
    return EC_POINT_is_at_infinity(group_.get(), &point) == 1;
  }

 private:
  const BIGNUM* order() const { return EC_GROUP_get0_order(group_.get()); }
  OwnedPoint identity() const {
    OwnedPoint point(EC_POINT_new(group_.get()));
    openssl_must(point != nullptr, "a point");
    return point;
  }

  OwnedGroup group_;
  OwnedNumbers numbers_;
};

/// Appends a part of the RFC's TT: its length as 8 bytes, little-endian, and the part.
void append_part(Secret& transcript, std::string_view part) {
  for (unsigned shift = 0; shift < 64; shift += 8)
    transcript += static_cast<char>(static_cast<std::uint64_t>(part.size()) >> shift & 0xffU);
  transcript += part;
}

Secret hash(std::string_view text) {
  Secret digest(hash_bytes, '\0');
  openssl_must(
      EVP_Digest(text.data(), text.size(), bytes_of(digest), nullptr, EVP_sha256(), nullptr) == 1,
      "SHA-256");
  return digest;
}

Secret mac(std::string_view key, std::string_view text) {
  Secret code(hash_bytes, '\0');
  openssl_must(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text),
                    text.size(), bytes_of(code), nullptr) != nullptr,
               "HMAC");
  return code;
}

/// HKDF-SHA-256 without salt, one block (Krawczyk and Eronen, RFC 5869, 2010).
Secret derive(std::string_view key, std::string info) {
  const std::string no_salt(hash_bytes, '\0');
  info += '\1';
  return mac(mac(no_salt, key), info);
}

}  // namespace

Secret stretch(std::string_view secret, std::string_view salt) {
  constexpr std::uint64_t n = 1U << 14U, r = 8, p = 1, most_memory = 64U << 20U;
  Secret stretched(stretched_bytes, '\0');
  openssl_must(EVP_PBE_scrypt(secret.data(), secret.size(), bytes_of(salt), salt.size(), n, r, p,
                              most_memory, bytes_of(stretched), stretched.size()) == 1,
               "scrypt");
  return stretched;
}

Spake2::Spake2(Side side, const Secret& stretched, std::string_view channel)
    : Spake2(side,
             {"grapevine join", "grapevine lobby"},
             stretched,
             Curve().random_scalar(),
             channel) {}

Spake2::Spake2(Side side,
               Identities identities,
               const Secret& stretched,
               Secret scalar,
               std::string_view channel)
    : side_(side),
      joins_(identities.joins),
      lobby_(identities.lobby),
      channel_(channel),
      scalar_(std::move(scalar)) {
  GV_CHECK(stretched.size() >= stretched_bytes, "see stretch()");
  const Curve curve;
  w_ = curve.scalar_of(stretched);
  const OwnedPoint own = curve.times(scalar_, nullptr);
  const OwnedPoint mask = curve.mask(side_, w_);
  share_ = std::string_view(curve.bytes(*curve.plus(*own, *mask)));
}

bool Spake2::take(std::string_view share) {
  if (std::exchange(has_taken_, true) || share == share_) return false;
  const Curve curve;
  const OwnedPoint theirs = curve.point(share);
  if (!theirs) return false;
  const OwnedPoint mask = curve.mask(side_ == Side::joins ? Side::lobby : Side::joins, w_);
  curve.negate(*mask);
  // RFC 9382, 3.3: K = x * (pB - w*N) or y * (pA - w*M).
  const OwnedPoint shared = curve.times(scalar_, curve.plus(*theirs, *mask).get());
  if (curve.is_identity(*shared)) return false;
  make_proofs(transcript(share, curve.bytes(*shared)));
  return true;
}

Secret Spake2::transcript(std::string_view their_share, std::string_view shared_point) const {
  const bool joins = side_ == Side::joins;
  Secret parts;
  append_part(parts, joins_);
  append_part(parts, lobby_);
  append_part(parts, joins ? share_ : their_share);
  append_part(parts, joins ? their_share : share_);
  append_part(parts, shared_point);
  append_part(parts, w_);
  return parts;
}

void Spake2::make_proofs(std::string_view transcript) {
  // RFC 9382, 4: Ke || Ka = Hash(TT), KcA || KcB = KDF(Ka, nil, "ConfirmationKeys" || AAD).
  const Secret keys = hash(transcript);
  const Secret confirmation =
      derive(std::string_view(keys).substr(key_bytes), "ConfirmationKeys" + channel_);
  const std::string_view both(confirmation);
  own_proof_ = mac(both.substr(0, key_bytes), transcript);
  their_proof_ = mac(both.substr(key_bytes), transcript);
  if (side_ == Side::lobby) own_proof_.swap(their_proof_);
}

std::string Spake2::proof() const {
  GV_CHECK(!own_proof_.empty(), "take() the other end's share first");
  return std::string(own_proof_);
}

bool Spake2::fits(std::string_view proof) const {
  return !their_proof_.empty() && proof.size() == their_proof_.size() &&
         CRYPTO_memcmp(proof.data(), their_proof_.data(), proof.size()) == 0;
}

}  // namespace gv
