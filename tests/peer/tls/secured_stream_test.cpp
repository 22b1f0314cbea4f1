#include "peer/tls/secured_stream.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "optim/rng.h"
#include "tests/peer/tls/talk.h"

namespace gv {
namespace {

const Secret one(32, 'a'), other(32, 'b');

/// What a stream reads of these records.
struct Heard {
  std::string text, why;
};

Heard hear(SecuredStream& stream, std::span<const std::byte> sealed, std::size_t room = 1 << 20) {
  Heard heard;
  std::vector<std::byte> out(room);
  for (std::size_t count = out.size(); count == out.size();) {
    count = stream.read(sealed, out);
    heard.text.append(reinterpret_cast<const char*>(out.data()), count);
  }
  heard.why = stream.why();
  return heard;
}

/// Records that an end of ours would not send, for one that opens them.
struct Hand {
  TrafficKey key{EVP_aes_128_gcm(), other, TrafficKey::Use::seals};
  SecuredStream stream{EVP_aes_128_gcm(), one, other};
  SealedBytes sealed;

  void seal(std::uint8_t type, const std::string& content) {
    const std::span<const std::byte> piece = bytes_of(content);
    key.seal(type, {&piece, 1}, sealed);
  }
  Heard heard() { return hear(stream, sealed); }
};

const std::string update_quietly("\x18\0\0\1\0", 5), update_too("\x18\0\0\1\1", 5);

/// The client's application data of RFC 8448, section 3: secret, content and the whole record.
TEST(SecuredStream, SealsTheRecordOfRfc8448) {
  const auto bytes_of_hex = [](std::string_view hex) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
      bytes.push_back(
          static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
    return bytes;
  };
  const auto secret =
      bytes_of_hex("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5");
  const auto record = bytes_of_hex(
      "1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20"
      "441e2b62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4");
  std::vector<std::byte> content(50);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(i);
  const Secret client(reinterpret_cast<const char*>(secret.data()), secret.size());

  SecuredStream seals(EVP_aes_128_gcm(), client, other);
  SealedBytes sealed;
  // In three pieces: what is encrypted does not depend on where it lies.
  const std::vector<std::span<const std::byte>> pieces{
      std::span(content).first(7), std::span(content).subspan(7, 20), std::span(content).last(23)};
  seals.write(pieces, sealed);
  EXPECT_TRUE(std::ranges::equal(sealed, record));
  SecuredStream opens(EVP_aes_128_gcm(), other, client);
  EXPECT_EQ(hear(opens, sealed).text,
            std::string(reinterpret_cast<const char*>(content.data()), content.size()));
}

/// Both ciphers, and a new key after every third record.
TEST(SecuredStream, EveryByteComesThroughWhateverTheRoomAndTheKeys) {
  for (const EVP_CIPHER* cipher : {EVP_aes_128_gcm(), EVP_chacha20_poly1305()}) {
    SecuredStream from(cipher, one, other, 3), to(cipher, other, one, 3);
    Rng rng(1);
    std::string said, heard;
    for (int i = 0; i < 50; ++i) {
      std::string text(rng.below(60'000), ' ');
      for (char& letter : text) letter = static_cast<char>(rng.below(256));
      const std::span<const std::byte> piece = bytes_of(text);
      SealedBytes sealed;
      from.write({&piece, 1}, sealed);
      const Heard some = hear(to, sealed, 1 + rng.below(40'000));
      ASSERT_EQ(some.why, "");
      said += text;
      heard += some.text;
    }
    EXPECT_TRUE(said == heard);
  }
}

/// A record that has come in part is left for later.
TEST(SecuredStream, HalfARecordIsNoneYet) {
  SecuredStream from(EVP_aes_128_gcm(), one, other), to(EVP_aes_128_gcm(), other, one);
  const std::string text = "half a word";
  const std::span<const std::byte> piece = bytes_of(text);
  SealedBytes sealed;
  std::vector<std::byte> out(100);
  from.write({&piece, 1}, sealed);
  for (std::size_t count = 0; count < sealed.size(); ++count) {
    std::span<const std::byte> came = std::span(sealed).first(count);
    ASSERT_EQ(to.read(came, out), 0U);
    ASSERT_EQ(came.size(), count);
    ASSERT_EQ(to.why(), "");
  }
  EXPECT_EQ(hear(to, sealed).text, text);
}

TEST(SecuredStream, PaddingIsNotHeard) {
  Hand hand;
  hand.seal(0, "padded\x17" + std::string(300, '\0'));
  hand.seal(SSL3_RT_APPLICATION_DATA, " and not");
  EXPECT_EQ(hand.heard().text, "padded and not");
}

/// Nothing behind what is wrong is given out, though it is sealed as it should be.
TEST(SecuredStream, WhatMayNotComeEndsIt) {
  struct Case {
    std::uint8_t type;
    std::string content, why;
  };
  for (const Case& c : {Case{SSL3_RT_CHANGE_CIPHER_SPEC, "\1", "may not come now"},
                        Case{0, std::string(9, '\0'), "may not come now"},
                        Case{SSL3_RT_HANDSHAKE, std::string("\4\0\0\0", 4), "may not come now"},
                        Case{SSL3_RT_HANDSHAKE, std::string("\x18\0\0\1\2", 5), "may not come now"},
                        Case{SSL3_RT_ALERT, "\2", "may not come now"},
                        Case{SSL3_RT_ALERT, "\2\x30", "it refuses our certificate"},
                        Case{SSL3_RT_ALERT, "\2\x14", "the other end says `bad record mac`"}}) {
    Hand hand;
    hand.seal(SSL3_RT_APPLICATION_DATA, "before");
    hand.seal(c.type, c.content);
    hand.seal(SSL3_RT_APPLICATION_DATA, "behind");
    const Heard heard = hand.heard();
    EXPECT_EQ(heard.text, "before");
    EXPECT_NE(heard.why.find(c.why), std::string::npos) << heard.why;
    EXPECT_EQ(hand.heard().text, "") << "nothing comes after it";
  }
}

/// A head that is none, or that says more than a record can be, is not waited for.
TEST(SecuredStream, NoLengthIsBelieved) {
  for (const std::size_t changed : {0U, 3U}) {
    Hand hand;
    hand.seal(SSL3_RT_APPLICATION_DATA, "a word");
    hand.sealed[changed] = std::byte{0xff};
    hand.sealed.resize(record_head);
    EXPECT_EQ(hand.heard().why, "TLS failed: what came is no record");
  }
  Hand hand;
  hand.sealed = {std::byte{SSL3_RT_APPLICATION_DATA}, std::byte{3}, std::byte{3}, {}, std::byte{3}};
  hand.sealed.resize(record_head + 3);
  EXPECT_EQ(hand.heard().why, "TLS failed: a record is not as it was sent");
}

TEST(SecuredStream, ARecordOutOfItsOrderIsNone) {
  Hand hand;
  hand.seal(SSL3_RT_APPLICATION_DATA, "once");
  hand.sealed.insert(hand.sealed.end(), hand.sealed.begin(), hand.sealed.end());
  const Heard heard = hand.heard();
  EXPECT_EQ(heard.text, "once");
  EXPECT_EQ(heard.why, "TLS failed: a record is not as it was sent");
}

TEST(SecuredStream, NothingIsHeardAfterAFarewell) {
  Hand hand;
  hand.seal(SSL3_RT_APPLICATION_DATA, "before");
  hand.seal(SSL3_RT_ALERT, std::string("\1\0", 2));
  hand.seal(SSL3_RT_APPLICATION_DATA, "behind");
  const Heard heard = hand.heard();
  EXPECT_EQ(heard.text, "before");
  EXPECT_EQ(heard.why, "") << "and nothing is wrong with it";
}

/// Who asks for key after key keeps us busy.
TEST(SecuredStream, AKeyIsUsedBeforeTheNextIsTaken) {
  Hand hand;
  hand.seal(SSL3_RT_APPLICATION_DATA, "before");
  hand.seal(SSL3_RT_HANDSHAKE, update_quietly);
  hand.key.renew();
  hand.seal(SSL3_RT_APPLICATION_DATA, " and behind");
  EXPECT_EQ(hand.heard().text, "before and behind");
  hand.sealed.clear();
  hand.seal(SSL3_RT_HANDSHAKE, update_quietly);
  hand.key.renew();
  EXPECT_EQ(hand.heard().why, "");
  hand.sealed.clear();
  hand.seal(SSL3_RT_HANDSHAKE, update_quietly);
  EXPECT_NE(hand.heard().why.find("may not come now"), std::string::npos);
}

/// An end by OpenSSL alone, without a socket.
class OpenSslEnd {
 public:
  explicit OpenSslEnd(const PeerKeys& keys)
      : context_(keys),
        ssl_(SSL_new(context_.get())),
        in_(BIO_new(BIO_s_mem())),
        out_(BIO_new(BIO_s_mem())) {
    SSL_set_bio(ssl_, in_, out_);
    SSL_set_accept_state(ssl_);
  }
  ~OpenSslEnd() { SSL_free(ssl_); }
  OpenSslEnd(const OpenSslEnd&) = delete;
  OpenSslEnd& operator=(const OpenSslEnd&) = delete;

  SSL* get() const { return ssl_; }
  /// What `from` has to say comes here, and gives what can be read of it.
  std::string take(TlsSession& from) {
    const SealedBytes said = from.take_output({});
    BIO_write(in_, said.data(), static_cast<int>(said.size()));
    if (SSL_is_init_finished(ssl_) == 0) SSL_do_handshake(ssl_);
    std::string heard;
    std::vector<char> some(70'000);
    for (std::size_t count = 0; SSL_read_ex(ssl_, some.data(), some.size(), &count) == 1;)
      heard.append(some.data(), count);
    return heard;
  }
  /// And the other way.
  std::string give(TlsSession& to) {
    std::string heard;
    std::vector<std::byte> out(70'000);
    for (;;) {
      const std::span<std::byte> space = to.space();
      const int count = BIO_read(out_, space.data(), static_cast<int>(space.size()));
      if (count <= 0) return heard;
      to.filled(static_cast<std::size_t>(count));
      to.shake();
      for (std::size_t some = out.size(); some == out.size();) {
        some = to.read(out);
        heard.append(reinterpret_cast<const char*>(out.data()), some);
      }
    }
  }

 private:
  TlsContext context_;
  SSL* ssl_;
  BIO *in_, *out_;
};

/// Our records are those of RFC 8446: OpenSSL reads them and writes such, with new keys of both.
TEST(SecuredStream, SpeaksWithOpenSsl) {
  const std::vector<PeerKeys> keys = make_keys(2);
  OpenSslEnd openssl(keys[1]);
  TlsSession ours(std::make_shared<TlsContext>(keys[0]), TlsSession::Role::dials, anybody);
  ours.shake();
  openssl.take(ours);
  openssl.give(ours);
  ASSERT_EQ(ours.state(), TlsSession::State::secured) << ours.why();
  const std::string large(200'000, 'x');
  for (int i = 0; i < 5; ++i) {
    say(ours, large);
    EXPECT_TRUE(openssl.take(ours) == large) << i;
    // It takes a new key, and asks us to take one too.
    if (i % 2 == 1) SSL_key_update(openssl.get(), SSL_KEY_UPDATE_REQUESTED);
    EXPECT_EQ(SSL_write(openssl.get(), large.data(), static_cast<int>(large.size())),
              static_cast<int>(large.size()));
    EXPECT_TRUE(openssl.give(ours) == large) << i << ": " << ours.why();
  }
  SSL_shutdown(openssl.get());
  EXPECT_EQ(openssl.give(ours), "");
  EXPECT_EQ(ours.state(), TlsSession::State::secured) << "a farewell is nothing wrong";
}

}  // namespace
}  // namespace gv
