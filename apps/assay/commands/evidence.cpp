// assay evidence: what was asked, run and found, as a folder that somebody else can check.

#include <assay/error.h>
#include <assay/extend/question.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/program.h"
#include "assay/evidence/gathering.h"
#include "assay/evidence/requirements.h"
#include "assay/evidence/signature.h"
#include "assay/evidence/zip.h"

namespace assay::app {
namespace {

class EvidenceCommand final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.add("--title TEXT", title_, "title of the pack");
    flags.add("--model FILE", subject_.model, "network of all steps");
    flags.add("--train SPEC", subject_.train, "training records of all steps");
    flags.add("--test SPEC", subject_.test, "test records of all steps");
    flags.add("--not-done TEXT", not_done_, "what the study leaves open, for the report; may be repeated");
    flags.add("--out FOLDER", out_, "folder of the pack");
    flags.add("--zip FILE.zip", zip_, "the pack as an archive, too");
    flags.add("--sign FILE", key_, "sign the manifest with this OpenSSH key (ssh-keygen -Y)");
    flags.describe(
        "Steps and requirements stand in the configuration file as [[evidence.step]] and "
        "[[evidence.requirement]] (docs/evidence.md); without steps: evaluate, cover, mutate.");
  }

  std::vector<Output> outputs() const override {
    return {{"--out", out_, Output::Kind::folder}, {"--zip", zip_}};
  }

  report::Document run(Context& context) override {
    const Settings& settings = context.settings;
    evidence::StudyFile file;
    if (!settings.config.empty()) file = evidence::read_study(settings.config);
    file.study.title = title_;
    file.study.not_done = not_done_;
    evidence::complete(file.study, file.given, subject_);
    evidence::check_study(file.study);
    if (!key_.empty() && !evidence::can_sign())
      fail(Fault::io, "ssh-keygen is not there; install OpenSSH, or leave out --sign");
    journal_ = evidence::begin_pack(out_, file.study, settings.force);
    evidence::PackContents contents = evidence::gather(
        std::move(file.study), {out_, settings.config, flags_of(settings)}, context.progress);
    contents.program = component_versions();
    contents.program.insert(contents.program.begin() + 1, {"commit", commit()});
    contents.machine.emplace_back("threads asked for", std::to_string(settings.threads));
    contents.machine.emplace_back("device", settings.device);
    contents.is_signed = !key_.empty();
    report::Document document = evidence::document_of(contents, evidence::write_pack(contents, out_));
    if (!key_.empty()) evidence::sign_manifest(out_, key_);
    if (!zip_.empty()) evidence::write_zip(out_, zip_);
    document.headline = fmt::format("{}: {}{}{}", out_, document.headline, key_.empty() ? "" : "; signed",
                                    zip_.empty() ? "" : "; also " + zip_);
    return document;
  }

  void result_written() override { evidence::finish_pack(std::move(journal_)); }

 private:
  // What all steps are run with.
  static std::vector<std::pair<std::string, std::string>> flags_of(const Settings& settings) {
    std::vector<std::pair<std::string, std::string>> flags{{"quiet", ""},
                                                           {"seed", std::to_string(settings.seed)}};
    if (settings.threads > 0) flags.emplace_back("threads", std::to_string(settings.threads));
    if (settings.force) flags.emplace_back("force", "");
    return flags;
  }

  std::unique_ptr<Journal> journal_;
  evidence::Subject subject_;
  std::string title_ = "Evidence", out_ = "assay-evidence", zip_, key_;
  std::vector<std::string> not_done_;
};

}  // namespace

CommandInfo evidence_command() {
  return {"evidence",
          "a study's commands, results, requirements and cards as one folder that others can check",
          "  assay evidence --config study.toml --out pack\n"
          "  assay evidence --model net.onnx --train train.npz --test test.npz --out pack --zip pack.zip\n"
          "  assay evidence --config study.toml --out pack --sign ~/.ssh/id_ed25519",
          make_command<EvidenceCommand>};
}

}  // namespace assay::app
