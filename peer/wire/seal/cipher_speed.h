#pragma once

namespace gv {

/// Bytes per second that one core encrypts and decrypts with AES-128-GCM, in records of 16 KiB,
/// like `openssl speed -evp aes-128-gcm -bytes 16384` (and `-decrypt`).
struct CipherSpeed {
  double encrypts = 0;
  double decrypts = 0;
  /// Returns the bytes per second that a core both encrypts and decrypts.
  double both() const { return 1 / (1 / encrypts + 1 / decrypts); }
  /// Returns the bytes per second of a core through TLS, sent and received, if the cipher were all
  /// that TLS adds to the work for `plain` bytes per second without it.
  double allows(double plain) const { return 1 / (1 / plain + 1 / both()); }
};

/// Measures the speed, in a fifth of a second of processor time for each direction.
CipherSpeed aes_gcm_speed();

}  // namespace gv
