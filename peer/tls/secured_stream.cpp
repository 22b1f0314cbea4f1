#include "peer/tls/secured_stream.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace gv {
namespace {

/// A KeyUpdate that asks for none in return: RFC 8446, section 4.6.3.
constexpr std::array<std::byte, 5> key_update{std::byte{SSL3_MT_KEY_UPDATE}, {}, {}, std::byte{1}};
constexpr std::array<std::byte, 2> bad_record{std::byte{SSL3_AL_FATAL},
                                              std::byte{SSL_AD_BAD_RECORD_MAC}};
constexpr std::array<std::byte, 2> close_notify{std::byte{SSL3_AL_WARNING},
                                                std::byte{SSL_AD_CLOSE_NOTIFY}};

}  // namespace

SecuredStream::SecuredStream(const EVP_CIPHER* cipher,
                             Secret ours,
                             Secret theirs,
                             std::uint64_t records_of_key)
    : ours_(cipher, std::move(ours), TrafficKey::Use::seals),
      theirs_(cipher, std::move(theirs), TrafficKey::Use::opens),
      records_of_key_(records_of_key) {}

std::size_t SecuredStream::read(std::span<const std::byte>& sealed, std::span<std::byte> out) {
  std::size_t done = give_rest(out);
  while (done < out.size() && sealed.size() >= record_head && why_.empty() && !farewell_) {
    const std::size_t bytes = sealed_bytes(sealed.first<record_head>());
    if (sealed.front() != std::byte{SSL3_RT_APPLICATION_DATA} || bytes > most_sealed)
      why_ = "TLS failed: what came is no record";
    if (!why_.empty() || sealed.size() < record_head + bytes) break;
    const std::span<const std::byte> record = sealed.first(record_head + bytes);
    sealed = sealed.subspan(record.size());
    done += take(record, out.subspan(done));
  }
  if (farewell_ || !why_.empty()) sealed = {};
  return done;
}

std::size_t SecuredStream::give_rest(std::span<std::byte> out) {
  const std::size_t count = std::min(rest_.size(), out.size());
  std::copy_n(rest_.begin(), count, out.begin());
  rest_ = rest_.subspan(count);
  return count;
}

/// One record, straight to where it is to be when it fits.
std::size_t SecuredStream::take(std::span<const std::byte> record, std::span<std::byte> out) {
  const std::size_t most = record.size() - std::min(record.size(), record_head + record_tail);
  const bool fits = most <= out.size();
  if (!fits) opened_.resize(std::max(most, opened_.size()));
  const std::span<std::byte> to = fits ? out : std::span(opened_);
  const std::optional<TrafficKey::Opened> opened = theirs_.open(record, to);
  if (!opened) {
    why_ = "TLS failed: a record is not as it was sent";
    return 0;
  }
  const std::span<const std::byte> content = to.first(opened->bytes);
  if (content.size() > most_content) {
    why_ = "TLS failed: a record holds more than one may";
    return 0;
  }
  if (opened->type != SSL3_RT_APPLICATION_DATA) {
    heed(opened->type, content);
    return 0;
  }
  if (fits) return content.size();
  rest_ = content;
  return give_rest(out);
}

/// Two of our ends ask for a new key once in 2^23 records. One that comes as a key's first record
/// is from somebody who wants us to be busy.
void SecuredStream::heed(std::uint8_t type, std::span<const std::byte> content) {
  if (type == SSL3_RT_ALERT && content.size() == bad_record.size())
    return heed_alert(std::to_integer<std::uint8_t>(content[1]));
  const bool update = type == SSL3_RT_HANDSHAKE && content.size() == key_update.size() &&
                      std::equal(key_update.begin(), key_update.end() - 1, content.begin()) &&
                      content.back() <= std::byte{1} && theirs_.records() > 1;
  if (!update) {
    why_ = "TLS failed: a message came that may not come now";
    return;
  }
  theirs_.renew();
  new_key_wanted_ = new_key_wanted_ || content.back() == std::byte{1};
}

void SecuredStream::heed_alert(std::uint8_t description) {
  switch (description) {
    case SSL_AD_CLOSE_NOTIFY:
      farewell_ = true;
      break;
    case SSL_AD_HANDSHAKE_FAILURE:
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_DECRYPT_ERROR:
      why_ = "it refuses our certificate: were both ends' keys made together?";
      break;
    default:
      why_ = fmt::format("TLS failed: the other end says `{}`",
                         SSL_alert_desc_string_long(description));
  }
}

void SecuredStream::take_new_key(SealedBytes& out) {
  const std::span<const std::byte> message = key_update;
  ours_.seal(SSL3_RT_HANDSHAKE, {&message, 1}, out);
  ours_.renew();
  new_key_wanted_ = false;
}

void SecuredStream::write(TrafficKey::Pieces pieces, SealedBytes& out) {
  content_.clear();
  std::size_t room = most_content;
  for (std::span<const std::byte> piece : pieces) {
    while (!piece.empty()) {
      const std::span<const std::byte> part = piece.first(std::min(room, piece.size()));
      content_.push_back(part);
      piece = piece.subspan(part.size());
      room -= part.size();
      if (room > 0) continue;
      write_record(out);
      room = most_content;
    }
  }
  if (!content_.empty()) write_record(out);
}

void SecuredStream::write_record(SealedBytes& out) {
  if (new_key_wanted_ || ours_.records() + 1 >= records_of_key_) take_new_key(out);
  ours_.seal(SSL3_RT_APPLICATION_DATA, content_, out);
  content_.clear();
}

void SecuredStream::write_alert(SealedBytes& out) {
  const std::span<const std::byte> message = bad_record;
  ours_.seal(SSL3_RT_ALERT, {&message, 1}, out);
}

void SecuredStream::write_farewell(SealedBytes& out) {
  const std::span<const std::byte> message = close_notify;
  ours_.seal(SSL3_RT_ALERT, {&message, 1}, out);
}

}  // namespace gv
