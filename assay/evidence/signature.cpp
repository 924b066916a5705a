#include "assay/evidence/signature.h"

#include <fmt/format.h>

#include <assay/error.h>
#include "assay/evidence/manifest.h"
#include "assay/support/files/input_file.h"
#include "assay/support/process.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;

constexpr const char *program = "ssh-keygen", *name_space = "assay-evidence";

std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

// "SHA256:..." in what ssh-keygen says.
std::string fingerprint_in(const std::string& text) {
  const std::size_t begin = text.find("SHA256:");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_first_of(" \r\n", begin) - begin);
}

std::string refusal_of(const fs::path& signers, const std::string& identity, const std::string& said) {
  if (signers.empty())
    return fmt::format(
        "{} is not a signature of this {} ({}); get the pack as it was signed, or sign it anew",
        signature_name, manifest_name, said);
  return fmt::format(
      "{} is not a signature of this {} by a key that {} has for '{}' ({}); name who signed, or have "
      "the pack signed by somebody whom it lists",
      signature_name, manifest_name, signers.string(), identity, said);
}

}  // namespace

bool can_sign() { return !program_file(program).empty(); }

void sign_manifest(const fs::path& pack, const fs::path& key) {
  if (!can_sign())
    fail(Fault::io, "{} is not there; install OpenSSH to sign, or make the pack without a signature",
         program);
  require_readable(key);
  std::error_code code;
  fs::remove(pack / signature_name, code);
  const ProcessResult result = run_process(
      {program, "-q", "-Y", "sign", "-f", key.string(), "-n", name_space, (pack / manifest_name).string()});
  if (result.code != 0 || !fs::exists(pack / signature_name))
    fail(Fault::io, "{} did not sign with {}: {}", program, key.string(), one_line(result.output));
}

std::string key_fingerprint(const fs::path& key) {
  require_readable(key);
  const ProcessResult result = run_process({program, "-l", "-E", "sha256", "-f", key.string()});
  const std::string found = fingerprint_in(result.output);
  if (result.code != 0 || found.empty())
    fail(Fault::io, "{}: {} does not tell its fingerprint: {}", key.string(), program,
         one_line(result.output));
  return found;
}

bool is_plain_or_missing(const fs::path& file) {
  std::error_code code;
  const fs::file_status status = fs::symlink_status(file, code);
  return fs::is_regular_file(status) || status.type() == fs::file_type::not_found;
}

SignatureCheck check_signature(const fs::path& pack, const fs::path& signers, const std::string& identity) {
  const fs::path signature = pack / signature_name;
  if (!is_plain_or_missing(signature))
    fail(Fault::data, "{} is not a plain file; packs hold nothing else", signature.string());
  if (!fs::exists(signature)) return {false, false, "the pack is not signed", ""};
  if (!can_sign()) return {true, false, std::string(program) + " is not there to check the signature", ""};
  if (!signers.empty()) require_readable(signers);
  std::vector<std::string> command{program, "-Y"};
  if (signers.empty())
    command.insert(command.end(), {"check-novalidate", "-n", name_space, "-s", signature.string()});
  else
    command.insert(command.end(), {"verify", "-f", signers.string(), "-I", identity, "-n", name_space, "-s",
                                   signature.string()});
  const ProcessResult result = run_process(command, {.input = pack / manifest_name});
  const std::string said = one_line(result.output);
  if (result.code == 0) return {true, true, said, fingerprint_in(said)};
  return {true, false, refusal_of(signers, identity, said), ""};
}

}  // namespace assay::evidence
