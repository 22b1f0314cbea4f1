#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "optim/check.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {
namespace {

/// Room for input of a stranger, and of a neighbour: long reads cost fewer calls.
constexpr std::size_t first_space = 8 * 1024;
constexpr std::size_t later_space = 128 * 1024;
/// Maximum unsent output: a neighbour that demands answers without reading them is cut off.
constexpr std::size_t most_outgoing = std::size_t{512} << 10;
constexpr std::size_t record = SSL3_RT_MAX_PLAIN_LENGTH;
constexpr const char* channel_label = "EXPORTER-grapevine-hello";
constexpr std::size_t channel_bytes = 32;

TlsSession& session_of(BIO* bio) {
  return *static_cast<TlsSession*>(BIO_get_data(bio));
}

int bio_read(BIO* bio, char* to, int most) {
  BIO_clear_retry_flags(bio);
  const int count = session_of(bio).give(to, most);
  if (count < 0) BIO_set_retry_read(bio);
  return count;
}

int bio_write(BIO* bio, const char* from, int bytes) {
  BIO_clear_retry_flags(bio);
  return session_of(bio).take(from, bytes);
}

long bio_control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

/// Returns OpenSSL's interface to our bytes, valid for the life of the process.
const BIO_METHOD* stream_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "grapevine");
    openssl_must(made != nullptr, "a stream");
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_ctrl(made, bio_control);
    return made;
  }();
  return method;
}

int judge_certificate(int chain_fits, X509_STORE_CTX* store) {
  const auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* session = static_cast<TlsSession*>(SSL_get_app_data(ssl));
  return session->judge(chain_fits == 1, store) ? 1 : 0;
}

/// Returns an explanation of the error that helps a user to fix it.
std::string words_of(unsigned long error, bool secured) {
  if (ERR_GET_LIB(error) != ERR_LIB_SSL) return "TLS failed";
  const int reason = ERR_GET_REASON(error);
  switch (reason) {
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return "it showed no certificate";
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_UNEXPECTED_MESSAGE:
      if (secured) break;
      return "it does not speak TLS (has it `security: plaintext`?)";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
      return "it speaks no TLS 1.3";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return "it refuses our certificate: were both ends' keys made together?";
    default:
      break;
  }
  const char* const text = ERR_reason_error_string(error);
  return fmt::format("TLS failed: {}", text == nullptr ? "no reason is given" : text);
}

}  // namespace

TlsSession::TlsSession(std::shared_ptr<const TlsContext> context,
                       Role role,
                       std::function<std::string(PeerId)> fits,
                       std::uint64_t records_of_key)
    : context_(std::move(context)),
      fits_(std::move(fits)),
      ssl_(SSL_new(context_->get())),
      records_of_key_(records_of_key),
      incoming_(first_space) {
  BIO* const stream = BIO_new(stream_method());
  openssl_must(ssl_ != nullptr && stream != nullptr, "a session");
  BIO_set_data(stream, this);
  BIO_set_init(stream, 1);
  SSL_set_bio(ssl_, stream, stream);
  SSL_set_app_data(ssl_, this);
  SSL_set_verify(ssl_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, judge_certificate);
  role == Role::dials ? SSL_set_connect_state(ssl_) : SSL_set_accept_state(ssl_);
}

TlsSession::~TlsSession() {
  SSL_free(ssl_);
}

/// Moves the beginning of an incomplete record to the front.
std::span<std::byte> TlsSession::space() {
  const auto at = [this](std::size_t i) {
    return incoming_.begin() + static_cast<std::ptrdiff_t>(i);
  };
  std::copy(at(used_), at(filled_), at(0));
  filled_ -= std::exchange(used_, 0);
  if (state_ == State::secured) incoming_.resize(later_space);
  return std::span(incoming_).subspan(filled_);
}

void TlsSession::filled(std::size_t bytes) {
  GV_CHECK(bytes <= incoming_.size() - filled_, "there was space");
  filled_ += bytes;
}

int TlsSession::give(char* to, int most) {
  const std::size_t count = std::min(filled_ - used_, static_cast<std::size_t>(most));
  if (count == 0) return -1;
  std::memcpy(to, incoming_.data() + used_, count);
  used_ += count;
  return static_cast<int>(count);
}

int TlsSession::take(const char* from, int bytes) {
  if (outgoing_.size() > most_outgoing) return -1;
  const auto* first = reinterpret_cast<const std::byte*>(from);
  outgoing_.insert(outgoing_.end(), first, first + bytes);
  return bytes;
}

bool TlsSession::judge(bool chain_fits, void* store) {
  auto* context = static_cast<X509_STORE_CTX*>(store);
  if (!chain_fits) {
    judgement_ = "its certificate is of other keys: were both ends' keys made together?";
    return false;
  }
  if (X509_STORE_CTX_get_error_depth(context) > 0) return true;
  const auto who = identity_of(*X509_STORE_CTX_get0_cert(context));
  if (!who || who->fleet != context_->identity().fleet)
    judgement_ = "its certificate is that of another fleet";
  else
    judgement_ = fits_(who->peer);
  if (!judgement_.empty()) {
    X509_STORE_CTX_set_error(context, X509_V_ERR_APPLICATION_VERIFICATION);
    return false;
  }
  peer_ = who->peer;
  return true;
}

void TlsSession::shake() {
  if (state_ != State::shaking) return;
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_);
  if (done == 1) return secure();
  if (SSL_get_error(ssl_, done) == SSL_ERROR_WANT_READ) return;
  fail(judgement_.empty() ? words_of(ERR_peek_error(), false) : judgement_);
}

/// Checks OpenSSL's verdict again, because the absence of an error proves nothing.
void TlsSession::secure() {
  std::array<unsigned char, channel_bytes> channel{};
  const bool proved = SSL_get_verify_result(ssl_) == X509_V_OK && judgement_.empty() &&
                      SSL_get0_peer_certificate(ssl_) != nullptr &&
                      SSL_version(ssl_) == TLS1_3_VERSION;
  const bool exported =
      SSL_export_keying_material(ssl_, channel.data(), channel.size(), channel_label,
                                 std::strlen(channel_label), nullptr, 0, 0) == 1;
  if (!proved || !exported) return fail("it did not prove who it is");
  channel_.assign(reinterpret_cast<const char*>(channel.data()), channel.size());
  state_ = State::secured;
}

std::size_t TlsSession::read(std::span<std::byte> out) {
  std::size_t done = 0;
  while (state_ == State::secured && !ended_ && done < out.size()) {
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_read_ex(ssl_, out.data() + done, out.size() - done, &count);
    done += count;
    if (result == 1) continue;
    read_failed(result);
    break;
  }
  return done;
}

void TlsSession::read_failed(int result) {
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return;
    case SSL_ERROR_ZERO_RETURN:
      ended_ = true;
      used_ = filled_;
      return;
    default:
      fail(words_of(ERR_peek_error(), true));
  }
}

/// OpenSSL makes a separate record of each call's bytes, so small pieces are joined first. Pieces
/// that fill records are encrypted in place.
void TlsSession::write(std::span<const std::span<const std::byte>> pieces) {
  for (std::span<const std::byte> piece : pieces) {
    while (!piece.empty()) {
      const bool whole = half_record_.empty() && piece.size() >= record;
      const std::size_t count = whole ? piece.size() / record * record
                                      : std::min(piece.size(), record - half_record_.size());
      const auto front = piece.first(count);
      piece = piece.subspan(count);
      if (whole)
        write_records(front);
      else
        half_record_.insert(half_record_.end(), front.begin(), front.end());
      if (half_record_.size() < record) continue;
      write_records(half_record_);
      half_record_.clear();
    }
  }
  write_records(half_record_);
  half_record_.clear();
}

void TlsSession::write_records(std::span<const std::byte> bytes) {
  if (state_ != State::secured || said_farewell_ || bytes.empty()) return;
  const std::uint64_t records = (bytes.size() + record - 1) / record;
  ERR_clear_error();
  if (records_ + records > records_of_key_) {
    openssl_must(SSL_key_update(ssl_, SSL_KEY_UPDATE_NOT_REQUESTED) == 1, "a new key");
    records_ = 0;
  }
  records_ += records;
  std::size_t count = 0;
  if (SSL_write_ex(ssl_, bytes.data(), bytes.size(), &count) != 1 || count != bytes.size())
    fail(words_of(ERR_peek_error(), true));
}

void TlsSession::say_farewell() {
  if (state_ == State::secured && !std::exchange(said_farewell_, true)) SSL_shutdown(ssl_);
}

std::vector<std::byte> TlsSession::take_output(std::vector<std::byte> empty) {
  empty.clear();
  std::swap(empty, outgoing_);
  return empty;
}

void TlsSession::fail(const std::string& why) {
  state_ = State::broken;
  why_ = why;
  used_ = filled_ = 0;
  ERR_clear_error();
}

}  // namespace gv
