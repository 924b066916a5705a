// assay verify: whether an evidence pack is as it was made, and whether its figures come out again.

#include <assay/error.h>
#include "apps/assay/commands/catalogue.h"
#include "assay/evidence/verification.h"

namespace assay::app {
namespace {

class Verify final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("pack", pack_, "folder that `assay evidence` made")->type_name("FOLDER");
    app.add_option(
           "--rerun", options_.rerun,
           "run its commands again and compare all figures: none, all, or names of steps, joined by +; "
           "only commands that measure are run")
        ->type_name("STEPS");
    app.add_option("--from", options_.from,
                   "folder in which the commands find their files (default: this one)")
        ->type_name("FOLDER");
    app.add_option("--tolerance", options_.tolerance,
                   "relative difference of real numbers that counts as close")
        ->check(CLI::Range(0.0, 1.0));
    app.add_option("--signers", options_.signers, "file of trusted keys (ALLOWED SIGNERS of ssh-keygen)")
        ->type_name("FILE");
    app.add_option("--identity", options_.identity, "with --signers: who has to have signed")
        ->type_name("NAME");
  }

  report::Document run(Context& context) override {
    if (pack_.empty()) fail(Fault::usage, "which pack? name the folder that `assay evidence` made");
    if (options_.signers.empty() != options_.identity.empty())
      fail(Fault::usage, "--signers and --identity go together: who is trusted, and who has to have signed");
    return evidence::verify(pack_, options_, context.progress);
  }

 private:
  std::string pack_;
  evidence::VerifyOptions options_;
};

}  // namespace

CommandInfo verify_command() {
  return {"verify",
          "check an evidence pack: its files, its signature, and whether its figures come out again",
          "  assay verify pack\n"
          "  assay verify pack --rerun all --from /data/study\n"
          "  assay verify pack --signers allowed_signers --identity reviewer@example.org",
          make_command<Verify>};
}

}  // namespace assay::app
