#pragma once

namespace gv {

/// Bytes that one core encrypts and decrypts in a second by AES-128-GCM, in records of 16 KiB, as
/// `openssl speed -evp aes-128-gcm -bytes 16384` (and `-decrypt`) would say.
struct CipherSpeed {
  double encrypts = 0;
  double decrypts = 0;
  /// Returns how many bytes a second a core both encrypts and decrypts.
  double both() const { return 1 / (1 / encrypts + 1 / decrypts); }
  /// Bytes that a core could carry in a second through TLS, sending and receiving together, if
  /// nothing but the cipher came to what it does for `plain` bytes without.
  double allows(double plain) const { return 1 / (1 / plain + 1 / both()); }
};

/// Takes a fifth of a second of processor time for each.
CipherSpeed aes_gcm_speed();

}  // namespace gv
