#pragma once

// Signatures of manifests by OpenSSH keys (`ssh-keygen -Y`), where that program is present.

#include <filesystem>
#include <string>

namespace assay::evidence {

inline constexpr const char* signature_name = "manifest.json.sig";

bool can_sign();

// Writes the signature next to the manifest. `key`: a private key, or a public one whose private part an
// agent holds. Throws Error{io} with what ssh-keygen says.
void sign_manifest(const std::filesystem::path& pack, const std::filesystem::path& key);

// Fingerprint of a private or public key, "SHA256:...". Throws Error{io} with what ssh-keygen says.
std::string key_fingerprint(const std::filesystem::path& key);

// Whether there is a file that is not a link, or nothing at all.
bool is_plain_or_missing(const std::filesystem::path& file);

struct SignatureCheck {
  bool there = false, good = false;
  std::string text;      // what was found: by which key, whether it is one of the trusted
  std::string key = {};  // fingerprint of a good signature's key: "SHA256:..."
};

// `signers`: file of trusted keys as ssh-keygen's ALLOWED SIGNERS, and the name that has to have signed;
// empty: the signature is checked by the key that it brings, which says that nothing was changed since and
// not by whom it was signed.
SignatureCheck check_signature(const std::filesystem::path& pack, const std::filesystem::path& signers,
                               const std::string& identity);

}  // namespace assay::evidence
