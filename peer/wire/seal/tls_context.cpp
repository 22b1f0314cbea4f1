#include "peer/wire/seal/tls_context.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer/wire/socket/descriptor.h"

namespace gv {
namespace {

/// Starts OpenSSL without this machine's configuration files, which may weaken these settings.
void begin_openssl() {
  openssl_must(OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) == 1, "its start");
}

OwnedBio text_bio(std::string_view text) {
  return OwnedBio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

OwnedCertificate certificate_in(const std::string& text) {
  OwnedCertificate certificate(PEM_read_bio_X509(text_bio(text).get(), nullptr, nullptr, nullptr));
  openssl_must(certificate != nullptr, "a certificate cannot be read");
  return certificate;
}

/// Never asks for a password.
int no_password(char*, int, int, void*) {
  return 0;
}

OwnedKey key_in(std::string_view text) {
  OwnedKey key(PEM_read_bio_PrivateKey(text_bio(text).get(), nullptr, no_password, nullptr));
  openssl_must(key != nullptr, "a key cannot be read");
  return key;
}

void fix_protocol(SSL_CTX* context) {
  openssl_must(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
                   SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1,
               "TLS 1.3");
  openssl_must(
      SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1,
      "ciphers");
  openssl_must(SSL_CTX_set1_groups_list(context, "X25519") == 1, "X25519");
  openssl_must(SSL_CTX_set1_sigalgs_list(context, "ed25519") == 1, "Ed25519");
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_early_data(context, 0);
  SSL_CTX_set_recv_max_early_data(context, 0);
}

void show_and_ask(SSL_CTX* context, const PeerKeys& keys) {
  const OwnedKey key = key_in(keys.key);
  const OwnedCertificate own = certificate_in(keys.certificate);
  const OwnedCertificate authority = certificate_in(keys.authority);
  openssl_must(SSL_CTX_use_certificate(context, own.get()) == 1, "the certificate");
  openssl_must(SSL_CTX_use_PrivateKey(context, key.get()) == 1, "the key is not the certificate's");
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  openssl_must(X509_STORE_add_cert(store, authority.get()) == 1, "the authority");
  X509_STORE_set_flags(store, X509_V_FLAG_X509_STRICT);
  openssl_must(X509_verify(own.get(), X509_get0_pubkey(authority.get())) == 1,
               "the certificate is not this authority's");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_verify_depth(context, 0);
}

namespace fs = std::filesystem;
constexpr std::size_t most_bytes = 64 * 1024;
constexpr std::string_view key_mark = "PRIVATE KEY";
constexpr std::string_view certificate_mark = "CERTIFICATE";
constexpr const char* make_keys_help = "\nhelp:  grapevine keygen FILE makes keys for a fleet";

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", path, what));
}

/// Returns the block between BEGIN and END lines of this kind at `at`, and advances `at`.
std::string_view take_block(std::string_view text, std::size_t& at, std::string_view mark) {
  const std::string begin = fmt::format("-----BEGIN {}-----\n", mark);
  const std::string end = fmt::format("-----END {}-----\n", mark);
  if (!text.substr(at).starts_with(begin)) return {};
  const std::size_t last = text.find(end, at);
  if (last == std::string_view::npos) return {};
  const std::size_t first = std::exchange(at, last + end.size());
  return text.substr(first, at - first);
}

/// Returns whether PEM may contain the character: newlines and printable ASCII (RFC 7468), without
/// those that JSON would have to escape.
bool is_of_pem(char c) {
  return c == '\n' || (c >= ' ' && c <= '~' && c != '"' && c != '\\');
}

void write_key_file(const std::string& path, std::string_view text) {
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.open()) fail(path, fmt::format("cannot be written: {}", std::strerror(errno)));
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size()) && ::fsync(file.get()) == 0) return;
  const std::string why = std::strerror(errno);
  ::unlink(path.c_str());
  fail(path, "cannot be written: " + why);
}

/// Refuses a file that others own or can read: with a peer's key anyone can pose as that peer.
void check_owner(const std::string& path, const struct stat& file) {
  if (!S_ISREG(file.st_mode)) fail(path, "is not a file with keys");
  if (file.st_uid != ::geteuid())
    fail(path,
         fmt::format("belongs to another user (number {}): keys must be our own\nhelp:  copy the "
                     "file as this user",
                     file.st_uid));
  if ((file.st_mode & 077) != 0)
    fail(path, fmt::format(
                   "others may read it or write it (mode {:04o}): a stranger with a peer's key can "
                   "be that peer\nhelp:  chmod 600 {}; if others were on this machine, make new "
                   "keys",
                   file.st_mode & 07777, path));
}

/// Returns what is wrong with its dates: `keygen` sets no end, but other certificates may have one.
std::string date_of(const TlsContext& context) {
  const X509* const certificate = SSL_CTX_get0_certificate(context.get());
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) return "is not valid yet";
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) return "has expired";
  return "";
}

void check_file(const std::string& path, PeerId id, KeyCheck& check) {
  const auto context = context_of_file(path, id);
  const std::string& fleet = context->identity().fleet;
  if (const std::string date = date_of(*context); !date.empty())
    throw std::runtime_error(
        fmt::format("{}: its certificate {}\nhelp:  set this machine's clock, or make new keys for "
                    "all peers: grapevine keygen FILE -o OTHER-FOLDER",
                    path, date));
  if (!check.fleet.empty() && fleet != check.fleet)
    throw std::runtime_error(
        fmt::format("{}: holds keys of another fleet ({:.12}...) than peer {}'s ({:.12}...)\nhelp: "
                    " all peers need files of one `grapevine keygen`: copy this one again",
                    path, fleet, check.good.front(), check.fleet));
  check.fleet = fleet;
  check.good.push_back(id);
}

}  // namespace

TlsContext::TlsContext(const PeerKeys& keys) {
  begin_openssl();
  OwnedContext context(SSL_CTX_new(TLS_method()));
  openssl_must(context != nullptr, "a context");
  fix_protocol(context.get());
  show_and_ask(context.get(), keys);
  const auto own = identity_of(*SSL_CTX_get0_certificate(context.get()));
  if (!own) throw std::runtime_error("the certificate names no peer");
  identity_ = *own;
  context_ = context.release();
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

std::string openssl_version() {
  return OpenSSL_version(OPENSSL_VERSION_STRING);
}

std::string openssl_error() {
  const unsigned long code = ERR_peek_last_error();
  const char* const reason = ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "no reason is given" : reason;
}

void openssl_must(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("OpenSSL: ") + what + ": " + openssl_error());
}

std::optional<TlsIdentity> identity_of(const X509& certificate) {
  constexpr int longest = 100;
  const OwnedNames names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  if (!names || sk_GENERAL_NAME_num(names.get()) != 1) return {};
  const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), 0);
  if (name->type != GEN_URI) return {};
  const ASN1_IA5STRING* const uri = name->d.uniformResourceIdentifier;
  const int length = ASN1_STRING_length(uri);
  if (length <= 0 || length > longest) return {};
  const auto* text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri));
  return parse_identity({text, static_cast<std::size_t>(length)});
}

std::string key_file_name(PeerId id) {
  return fmt::format("peer-{}.pem", id);
}

Secret text_of(const PeerKeys& keys) {
  Secret text = keys.key;
  text += keys.certificate;
  text += keys.authority;
  return text;
}

PeerKeys parse_keys(std::string_view text, const std::string& name) {
  std::size_t at = 0;
  PeerKeys keys;
  keys.key = take_block(text, at, key_mark);
  keys.certificate = take_block(text, at, certificate_mark);
  keys.authority = take_block(text, at, certificate_mark);
  const bool whole = !keys.authority.empty() && at == text.size();
  if (whole && std::ranges::all_of(text, is_of_pem)) return keys;
  fail(name, fmt::format(
                 "does not hold a private key, its certificate and the authority's in PEM, in this "
                 "order and nothing else{}",
                 make_keys_help));
}

std::vector<std::string> write_key_files(const std::string& folder,
                                         const std::vector<PeerKeys>& keys) {
  std::vector<std::string> paths;
  for (PeerId i = 0; i < keys.size(); ++i) {
    paths.push_back((fs::path(folder) / key_file_name(i)).string());
    if (fs::exists(fs::symlink_status(paths.back())))
      fail(paths.back(),
           "exists already, and keys are never overwritten: peers with the old keys would be "
           "locked out\nhelp:  move the folder away, or give another one with -o");
  }
  if (!folder.empty() && !fs::exists(folder)) {
    const fs::path parent = fs::path(folder).parent_path();
    std::error_code error;
    if (!parent.empty()) fs::create_directories(parent, error);
    if (error || ::mkdir(folder.c_str(), 0700) != 0)
      fail(folder, fmt::format("cannot be made: {}", std::strerror(errno)));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) write_key_file(paths[i], text_of(keys[i]));
  return paths;
}

PeerKeys read_key_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.open() && errno == ELOOP)
    fail(path, "is a link, and keys are not read through links\nhelp:  copy the file here");
  if (!file.open())
    fail(path, fmt::format("cannot be read: {}{}", std::strerror(errno), make_keys_help));
  struct stat state {};
  if (::fstat(file.get(), &state) != 0) fail(path, std::strerror(errno));
  check_owner(path, state);
  Secret text(most_bytes + 1, '\0');
  std::size_t size = 0;
  for (ssize_t count = 1; count > 0 && size < text.size();
       size += static_cast<std::size_t>(std::max<ssize_t>(count, 0)))
    count = ::read(file.get(), text.data() + size, text.size() - size);
  if (size > most_bytes) fail(path, "is longer than keys are");
  text.resize(size);
  return parse_keys(text, path);
}

std::shared_ptr<const TlsContext> context_of_file(const std::string& path, PeerId id) {
  std::shared_ptr<const TlsContext> context;
  const PeerKeys keys = read_key_file(path);
  try {
    context = std::make_shared<TlsContext>(keys);
  } catch (const std::runtime_error& broken) {
    fail(path, fmt::format("{}{}", broken.what(), make_keys_help));
  }
  if (context->identity().peer == id) return context;
  fail(path,
       fmt::format("holds the keys of peer {}, and this is peer {}", context->identity().peer, id));
}

KeyCheck check_key_files(const std::string& folder, PeerId n) {
  KeyCheck check;
  for (PeerId id = 0; id < n; ++id) {
    const std::string path = (fs::path(folder) / key_file_name(id)).string();
    if (!fs::exists(fs::symlink_status(path))) {
      check.missing.push_back(id);
      continue;
    }
    try {
      check_file(path, id, check);
    } catch (const std::runtime_error& wrong) {
      check.findings.emplace_back(wrong.what());
    }
  }
  return check;
}

}  // namespace gv
