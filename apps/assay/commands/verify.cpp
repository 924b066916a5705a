// assay verify: whether an evidence pack is as it was made, and whether its figures come out again.

#include <assay/error.h>
#include "apps/assay/command.h"
#include "apps/assay/program.h"
#include "assay/evidence/opened_pack.h"
#include "assay/evidence/verification.h"

namespace assay::app {
namespace {

class Verify final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::memory});
    flags.add("pack PACK", pack_, "folder that `assay evidence` made, or its archive (--zip)");
    flags.add("--rerun STEPS", options_.rerun,
              "run its commands again and compare all figures: none, all, or names of steps, joined by +; "
              "only commands that measure are run");
    flags.add("--from FOLDER", options_.from,
              "folder in which the commands find their files (default: this one)");
    tolerance_ = flags.add("--tolerance", options_.tolerance,
                           "relative difference of real numbers that counts as close", CLI::Range(0.0, 1.0));
    flags.add("--signers FILE", options_.signers, "file of trusted keys (ALLOWED SIGNERS of ssh-keygen)");
    flags.add("--identity NAME", options_.identity, "with --signers: who must have signed");
  }

  // The pack as a whole, and what its commands read.
  std::vector<NamedPath> inputs(const Settings&) const override {
    if (pack_.empty()) return {};
    std::vector<NamedPath> all{{pack_, "the pack"}};
    if (options_.rerun == "none") return all;
    const evidence::OpenedPack opened(pack_);
    for (const evidence::InputFile& input : evidence::read_manifest(opened.folder()).inputs)
      all.emplace_back(std::filesystem::path(options_.from) / input.path, "a command of the pack");
    return all;
  }

  bool plugins_of_folder() const override { return false; }
  bool runs_program() const override { return true; }
  report::Document run(Context& context) override {
    if (pack_.empty())
      fail(Fault::usage, "which pack? name the folder or the archive that `assay evidence` made");
    if (options_.rerun == "none") refuse_without_effect({tolerance_}, of_flags("without --rerun"));
    if (options_.signers.empty() != options_.identity.empty())
      refuse("--signers and --identity go together: who is trusted, and who must have signed");
    declare_step_commands();
    options_.program = pack_versions();
    options_.in_new_words = [](std::vector<std::string> typed) {
      return frame::with_new_words(program().words, std::move(typed), [](const std::string&) {});
    };
    return evidence::verify(pack_, options_, context.progress);
  }

 private:
  std::string pack_;
  const CLI::Option* tolerance_ = nullptr;
  evidence::VerifyOptions options_;
};

}  // namespace

CommandInfo verify_command() {
  return {"verify",
          "check an evidence pack: requirements, files, signature, and whether its figures can be reproduced",
          "  assay verify pack\n"
          "  assay verify pack.zip\n"
          "  assay verify pack --rerun all --from /data/study\n"
          "  assay verify pack --signers allowed_signers --identity reviewer@example.org",
          make_command<Verify>, report_group};
}

}  // namespace assay::app
