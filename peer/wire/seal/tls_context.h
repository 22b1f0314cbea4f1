#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "peer/wire/seal/peer_keys.h"

struct ssl_ctx_st;

struct ssl_st;

namespace gv {

/// The part that a peer's TLS sessions share: its key, the trusted authority, and fixed settings.
/// TLS 1.3 (RFC 8446) with AES-128-GCM, or ChaCha20-Poly1305 if the other end has no AES
/// instructions; X25519; Ed25519. Both ends show certificates. No tickets, resumption or early
/// data, so that recorded traffic cannot be replayed. Immutable once made: sessions of several
/// threads may share it.
class TlsContext {
 public:
  /// Throws std::runtime_error if the keys are invalid or do not belong together.
  explicit TlsContext(const PeerKeys& keys);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  const TlsIdentity& identity() const { return identity_; }  ///< our own identity
  ssl_ctx_st* get() const { return context_; }

 private:
  ssl_ctx_st* context_;
  TlsIdentity identity_;
};

/// Returns the version of OpenSSL in use, such as "3.0.19".
std::string openssl_version();

/// Frees an object of OpenSSL.
template <auto release>
struct Released {
  template <class T>
  void operator()(T* it) const {
    release(it);
  }
};
using OwnedKey = std::unique_ptr<EVP_PKEY, Released<EVP_PKEY_free>>;
using OwnedKeyContext = std::unique_ptr<EVP_PKEY_CTX, Released<EVP_PKEY_CTX_free>>;
using OwnedCertificate = std::unique_ptr<X509, Released<X509_free>>;
using OwnedExtension = std::unique_ptr<X509_EXTENSION, Released<X509_EXTENSION_free>>;
using OwnedNames = std::unique_ptr<GENERAL_NAMES, Released<GENERAL_NAMES_free>>;
using OwnedBio = std::unique_ptr<BIO, Released<BIO_free_all>>;
using OwnedCipher = std::unique_ptr<EVP_CIPHER_CTX, Released<EVP_CIPHER_CTX_free>>;
using OwnedContext = std::unique_ptr<SSL_CTX, Released<SSL_CTX_free>>;

/// Returns OpenSSL's text for this thread's last error, and clears its list of errors.
std::string openssl_error();
/// Throws std::runtime_error with `what` and OpenSSL's reason unless `done`.
void openssl_must(bool done, const char* what);

/// Returns the owner named in a certificate, its only alternative name, a URI; nothing if it has
/// none or several. The certificate must be signed by a trusted authority.
std::optional<TlsIdentity> identity_of(const X509& certificate);

// A peer's key file, FOLDER/peer-3.pem: its private key, its certificate and the authority's, in
// PEM, in this order.

std::string key_file_name(PeerId id);

/// Writes each peer's keys into the folder, which is created if necessary, readable by its owner
/// only. Throws std::runtime_error, and writes nothing, if one of the files exists.
std::vector<std::string> write_key_files(const std::string& folder,
                                         const std::vector<PeerKeys>& keys);

/// Reads a key file. Throws std::runtime_error with the path, the error and a remedy if it is a
/// link, belongs to another user, is readable by others, or holds no keys.
PeerKeys read_key_file(const std::string& path);

/// Makes the context of peer `id` from its key file. Throws std::runtime_error also if the keys are
/// another peer's or do not belong together.
std::shared_ptr<const TlsContext> context_of_file(const std::string& path, PeerId id);

/// Parses the three parts of a key file's text; `name` names the text in errors.
PeerKeys parse_keys(std::string_view text, const std::string& name);
Secret text_of(const PeerKeys& keys);

/// State of a fleet's key files on this machine.
struct KeyCheck {
  std::vector<PeerId> good;           ///< peers with a valid file; ascending
  std::vector<PeerId> missing;        ///< peers without a file
  std::string fleet;                  ///< fleet of the good files, 32 hex digits; or ""
  std::vector<std::string> findings;  ///< errors, each with a remedy
};

/// Reads FOLDER/peer-I.pem of peers 0 .. n - 1 as `grapevine peer` does. These files are findings:
/// a link, another user's file, one that others may read, one without keys, keys of another peer,
/// keys of a fleet other than the first good file's, or an expired certificate. A missing file is
/// no finding, because each machine has only the files of its own peers.
KeyCheck check_key_files(const std::string& folder, PeerId n);

/// One end of a TLS connection as a state machine without a socket: bytes of the stream go in and
/// come out, in any pieces. So nothing here waits, and the owner of the socket decides how much of
/// a stranger's data is read, and how many records go out with one system call. OpenSSL implements
/// the protocol, handshake and records alike.
/// Invariant: no byte of the other end is returned before that end has proved to be a peer of our
/// fleet that `fits`.
///
///   shaking --its certificate and its Finished fit--> secured
///   shaking, secured --anything wrong---------------> broken
class TlsSession {
 public:
  enum class State : std::uint8_t { shaking, secured, broken };
  /// The end that made the connection sends first.
  enum class Role : std::uint8_t { dials, is_dialled };

  /// Maximum number of records with one key; write() then changes the key, since OpenSSL 3.0 does
  /// not count. AES-128-GCM is safe for 2^24.5 full records with one key (RFC 8446, section 5.5).
  static constexpr std::uint64_t most_records_of_key = std::uint64_t{1} << 23;

  /// `fits`: returns why this peer of our fleet may not be at the other end, or "" if it may.
  TlsSession(std::shared_ptr<const TlsContext> context,
             Role role,
             std::function<std::string(PeerId)> fits,
             std::uint64_t records_of_key = most_records_of_key);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  State state() const { return state_; }
  /// Returns why the session is broken, for the log; contains no text of the other end.
  const std::string& why() const { return why_; }
  /// Returns the proved identity of the other end; while secured.
  PeerId peer() const { return peer_; }
  /// Returns 32 bytes that only the two ends of this connection know, unique to it: the exporter
  /// (RFC 8446, section 7.5); while secured.
  const std::string& channel() const { return channel_; }

  /// Returns the space for the next bytes of the stream; filled() reports how many were put there.
  /// Call read() until it returns nothing before adding more.
  std::span<std::byte> space();
  std::span<const std::byte> came() const { return {incoming_.data() + used_, filled_ - used_}; }
  void filled(std::size_t bytes);
  /// Continues the handshake; there may be output to send afterwards.
  void shake();
  /// Fills `out` with available bytes and returns their number; may overwrite the rest of `out`.
  /// Only while secured.
  std::size_t read(std::span<std::byte> out);

  /// Encrypts the pieces in sequence, in records as full as possible. Only while secured.
  void write(std::span<const std::span<const std::byte>> pieces);
  /// Announces the end of our data to the other end; once, and only while secured.
  void say_farewell();
  /// Returns whether the other end has announced its end, and read() has returned all its data.
  /// Bytes that follow are ignored.
  bool ended() const { return ended_; }
  /// Returns whether there are bytes to send, see take_output().
  bool has_output() const { return !outgoing_.empty(); }
  std::vector<std::byte> take_output(std::vector<std::byte> empty);

  // Callbacks for OpenSSL.
  int give(char* to, int most);
  int take(const char* from, int bytes);
  bool judge(bool chain_fits, void* store);

 private:
  void secure();
  void write_records(std::span<const std::byte> bytes);
  void read_failed(int result);
  void fail(const std::string& why);

  std::shared_ptr<const TlsContext> context_;
  std::function<std::string(PeerId)> fits_;
  ssl_st* ssl_ = nullptr;
  State state_ = State::shaking;
  std::string why_;
  std::string judgement_;  ///< objection to the other end's certificate, or ""
  PeerId peer_ = 0;
  std::string channel_;
  bool said_farewell_ = false;
  bool ended_ = false;                  ///< the other end has announced its end
  std::uint64_t records_of_key_;        ///< number of records after which the key changes
  std::uint64_t records_ = 0;           ///< records written with the current key
  std::vector<std::byte> half_record_;  ///< pieces too small to fill a record
  std::vector<std::byte> incoming_;
  std::size_t used_ = 0, filled_ = 0;  ///< range of incoming_ still to be decrypted
  std::vector<std::byte> outgoing_;
};

/// Returns whether a stream that begins with this byte is TLS, and not plain frames.
constexpr bool begins_tls(std::byte first) {
  return first == std::byte{0x16};  // handshake record: RFC 8446, section 5.1
}

}  // namespace gv
