// assay evidence: what was asked, run and found, as a folder that somebody else can check.

#include <functional>
#include <set>

#include <assay/error.h>
#include <assay/extend/question.h>
#include "apps/assay/command.h"
#include "apps/assay/program.h"
#include "apps/frame/trust.h"
#include "assay/evidence/approvals.h"
#include "assay/evidence/gathering.h"
#include "assay/evidence/impact.h"
#include "assay/evidence/repetition.h"
#include "assay/evidence/requirements.h"
#include "assay/evidence/signature.h"
#include "assay/evidence/verdict.h"
#include "assay/evidence/zip.h"
#include "assay/support/files/toml_file.h"
#include "assay/support/text/parse.h"

namespace assay::app {
namespace {

class EvidenceCommand final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take_those_of_networks();
    flags.take({Shared::seed});
    flags.add("--title TEXT", title_, "title of the pack");
    flags.add("--document-id TEXT", document_id_,
              "identifier on every page (default: made of title, time and results)");
    flags.naming(Concept::network).add("model,--model FILE", subject_.model, "network of all steps");
    flags.leading().add("--train SPEC", subject_.train, "training records of all steps");
    flags.add("test,--test SPEC", subject_.test, "test records of all steps");
    flags.add("--not-done TEXT", not_done_, "what the study leaves open, for the report; may be repeated");
    flags.add_output("--out FOLDER", out_, "folder of the pack", {.guarded = true});
    flags.add_output("--zip FILE.zip", zip_, "also write the pack as an archive");
    flags.add("--former PACK", former_,
              "folder or archive of an earlier pack: what changed since, and which requirements, steps and "
              "figures that affects");
    flags.add("--sign FILE", key_, "sign the manifest with this OpenSSH key (ssh-keygen -Y)");
    flags.describe(
        "Steps and requirements are given in the configuration file as [[evidence.step]] and "
        "[[evidence.requirement]], persons who decide as [[approval]] (docs/evidence.md); without steps: "
        "evaluate, cover, mutate.");
    handed_on_ = [flags] {
      return flags.named({"--seed", "--threads", "--batch", "--device", "--engine", "--memory", "--force"});
    };
  }

  void configured(const Configured& found, const Settings& settings) override {
    const toml::table file = read_configuration(settings.config);
    const toml::table* const own = file["evidence"].as_table();
    read_by_steps_.clear();
    for (const auto& [option, place] : found) {
      const std::string name = frame::name_of(*option);
      if (own == nullptr || !own->contains(name)) read_by_steps_.insert(name);
    }
  }

  // Files that steps are collected from and read.
  std::vector<NamedPath> inputs(const Settings& settings) const override {
    std::vector<NamedPath> all;
    if (!former_.empty()) all.emplace_back(former_, "the former pack");
    for (const evidence::Step& step : study_of(settings).study.steps) {
      for (const std::string& text : step.arguments) {
        for (const std::filesystem::path& path : paths_in(text)) all.emplace_back(path, "step " + step.name);
      }
      all.emplace_back(step.collected, "step " + step.name);
    }
    std::erase_if(all,
                  [this](const NamedPath& input) { return input.first != former_ && !is_file(input.first); });
    return all;
  }

  bool runs_program() const override { return true; }
  report::Document run(Context& context) override {
    const Settings& settings = context.settings;
    declare_step_commands();
    evidence::StudyFile file = study_of(settings);
    file.study.title = title_;
    file.study.not_done = not_done_;
    file.study.document_id = document_id_;
    evidence::complete(file.study, file.given, subject_);
    evidence::check_study(file.study);
    require_pack_apart(file.study.steps);
    if (!key_.empty() && !evidence::can_sign())
      fail(Fault::io, "ssh-keygen is not there; install OpenSSH, or leave out --sign");
    require_signatory(file.study.approvals);
    const std::unique_ptr<evidence::OpenedPack> former = evidence::open_former(former_);
    journal_ = evidence::begin_pack(out_, file.study, settings.force);
    evidence::copy_former(former.get(), out_);
    evidence::PackContents contents = evidence::gather(
        std::move(file.study), {out_, settings.config, flags_of_steps(), !settings.config_is_found},
        context.progress);
    contents.program = pack_versions();
    contents.machine.emplace_back("threads asked for", std::to_string(settings.threads));
    contents.machine.emplace_back("device", settings.device);
    contents.is_signed = !key_.empty();
    contents.former = evidence::former_of(out_);
    report::Document document = evidence::document_of(contents, evidence::write_pack(contents, out_));
    if (!key_.empty()) evidence::sign_manifest(out_, key_);
    if (!zip_.empty()) evidence::write_zip(out_, zip_);
    document.headline = fmt::format("{}: {}{}{}", out_, document.headline, key_.empty() ? "" : "; signed",
                                    zip_.empty() ? "" : "; also " + zip_);
    return document;
  }

  void result_written() override { evidence::finish_pack(std::move(journal_)); }

 private:
  static bool is_file(const std::filesystem::path& path) {
    std::error_code code;
    return std::filesystem::is_regular_file(path, code);
  }

  // Those who decide are known by their keys before anything runs.
  void require_signatory(const std::vector<evidence::Approval>& approvals) const {
    if (key_.empty() || approvals.empty()) return;
    const evidence::Signatory found =
        evidence::signatory_among(approvals, "", evidence::key_fingerprint(key_));
    if (found.kind == evidence::Signatory::Kind::unknown)
      fail(Fault::usage, "--sign {}: {}", key_, found.text);
  }

  // Steps of a file that was found in the current folder run no code, and write there only.
  static evidence::StudyFile study_of(const Settings& settings) {
    evidence::StudyFile file;
    if (!settings.config.empty()) file = evidence::read_study(settings.config);
    if (!settings.config_is_found) return file;
    for (const evidence::Step& step : file.study.steps) {
      const std::string place = fmt::format("{}: step {}", settings.config, step.name);
      for_options(step, [&](const CLI::Option& option, const std::string& value) {
        const std::string flag = frame::flag_of(option);
        if (flag == "--trust" || flag == "--config")
          fail(Fault::usage, "{}: {} is for the command line only", place, flag);
        frame::refuse_untrusted(option, value, place);
      });
    }
    return file;
  }

  // Requires outputs of steps by their own flags to lie outside the pack.
  void require_pack_apart(const std::vector<evidence::Step>& steps) const {
    std::vector<Output> all = outputs();
    for (const evidence::Step& step : steps) {
      for_options(step, [&](const CLI::Option& option, const std::string& value) {
        if (!frame::is_written(option)) return;
        const bool folder = option.get_type_name().starts_with("FOLDER");
        all.push_back({"a step", value, folder ? Output::Kind::folder : Output::Kind::file, {"*"}});
      });
    }
    check_outputs(all, {});
  }

  // Calls `work` with the options that a step gives to its command, and their values.
  template <typename Work>
  static void for_options(const evidence::Step& step, const Work& work) {
    const auto command = std::ranges::find(program().commands, step.command, &CommandInfo::name);
    if (!step.collected.empty() || command == program().commands.end()) return;
    const frame::Posed posed(*command);
    for (const auto& [name, value] : evidence::named_values(step_words(step))) {
      const CLI::Option* const option =
          name.empty() ? nullptr : posed.flags.get_option_no_throw((name.size() == 1 ? "-" : "--") + name);
      if (option != nullptr) work(*option, value);
    }
  }

  // With today's names of flags, and the command in front.
  static std::vector<std::string> step_words(const evidence::Step& step) {
    std::vector<std::string> words{step.command};
    words.insert(words.end(), step.arguments.begin(), step.arguments.end());
    return frame::with_new_words(program().words, std::move(words), [](const std::string&) {});
  }

  // Flags of all steps: those that were typed, or stand in the table of this command. What the file says of
  // all commands, steps read themselves, below their own tables.
  std::vector<std::pair<std::string, std::string>> flags_of_steps() const {
    std::vector<std::pair<std::string, std::string>> flags{{"quiet", ""}};
    for (const CLI::Option* option : handed_on_()) {
      const std::string name = frame::name_of(*option);
      if (option->count() == 0 || read_by_steps_.contains(name)) continue;
      const std::string value = option->results().front();
      if (!frame::is_switch(*option))
        flags.emplace_back(name, value);
      else if (value == "true")
        flags.emplace_back(name, "");
    }
    return flags;
  }

  std::unique_ptr<Journal> journal_;
  evidence::Subject subject_;
  std::string title_ = "Evidence", out_ = "assay-evidence", zip_, key_, document_id_, former_;
  std::vector<std::string> not_done_;
  std::function<std::vector<const CLI::Option*>()> handed_on_;  // declared after the command's own flags
  std::set<std::string> read_by_steps_;                         // names of flags
};

}  // namespace

CommandInfo evidence_command() {
  return {"evidence",
          "a study as one folder that others can check: its commands, results, requirements and cards",
          "  assay evidence --config study.toml --out pack\n"
          "  assay evidence net.onnx test.npz --train train.npz --out pack --zip pack.zip\n"
          "  assay evidence --config study.toml --out pack --sign ~/.ssh/id_ed25519",
          make_command<EvidenceCommand>, report_group};
}

}  // namespace assay::app
