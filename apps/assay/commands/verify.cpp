// assay verify: whether an evidence pack is as it was made, and whether its figures come out again.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>

#include <assay/error.h>
#include "apps/assay/commands/catalogue.h"
#include "assay/evidence/comparison.h"
#include "assay/evidence/manifest.h"
#include "assay/evidence/pack.h"
#include "assay/evidence/signature.h"
#include "assay/support/file.h"
#include "assay/support/process.h"
#include "assay/support/sha256.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

namespace fs = std::filesystem;

// Commands that only measure. Others, and flags that load code, are not run because a pack says so.
const std::set<std::string>& repeatable_commands() {
  static const std::set<std::string> names{"model", "data",   "evaluate", "importance",
                                           "cover", "mutate", "select"};
  return names;
}

std::vector<std::string> flags_of(const std::vector<std::string>& typed) {
  std::vector<std::string> flags;
  for (const std::string& word : typed) {
    if (word.starts_with("--")) flags.push_back(word.substr(2, word.find('=') - 2));
  }
  return flags;
}

report::Gate check_of(std::string text, bool passed, std::string reason) {
  report::Gate gate;
  gate.text = std::move(text);
  gate.criterion = "evidence";
  gate.threshold = "0";
  gate.passed = passed;
  gate.reason = std::move(reason);
  return gate;
}

// A folder that nobody else can have prepared, gone when this is.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "assay-verify-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      fail(Fault::io, "{} cannot be made: {}", name, std::strerror(errno));
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code code;
    fs::remove_all(path_, code);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class Verify final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("pack", pack_, "folder that `assay evidence` made")->type_name("FOLDER");
    app.add_option(
           "--rerun", rerun_,
           "run its commands again and compare all figures: none, all, or names of steps, joined by +; "
           "only commands that measure are run")
        ->type_name("STEPS");
    app.add_option("--from", from_, "folder in which the commands find their files (default: this one)")
        ->type_name("FOLDER");
    app.add_option("--tolerance", tolerance_, "relative difference of real numbers that counts as close")
        ->check(CLI::Range(0.0, 1.0));
    app.add_option("--signers", signers_, "file of trusted keys (ALLOWED SIGNERS of ssh-keygen)")
        ->type_name("FILE");
    app.add_option("--identity", identity_, "with --signers: who has to have signed")->type_name("NAME");
  }

  report::Document run(Context& context) override {
    if (pack_.empty()) fail(Fault::usage, "which pack? name the folder that `assay evidence` made");
    if (signers_.empty() != identity_.empty())
      fail(Fault::usage, "--signers and --identity go together: who is trusted, and who has to have signed");
    const evidence::Manifest manifest = evidence::read_manifest(pack_);
    report::Document document;
    check_files(manifest, document);
    check_signed(document);
    check_inputs(manifest, document);
    if (rerun_ != "none") repeat(manifest, context, document);
    const auto failed =
        std::ranges::count_if(document.gates, [](const report::Gate& gate) { return !gate.passed; });
    document.headline =
        failed == 0 ? fmt::format("{}: {} files are as they were made{}", pack_, manifest.files.size(),
                                  rerun_ == "none" ? "; no command was run again (--rerun)"
                                                   : "; figures came out the same")
                    : fmt::format("{}: {} of {} checks failed", pack_, failed, document.gates.size());
    document.facts = {{"title", "title", manifest.title}, {"created", "made", manifest.created}};
    return document;
  }

 private:
  void check_files(const evidence::Manifest& manifest, report::Document& document) const {
    const std::vector<std::string> different = evidence::differences(manifest, pack_);
    document.gates.push_back(check_of("files", different.empty(),
                                      different.empty()
                                          ? fmt::format("{} files have their SHA-256", manifest.files.size())
                                          : joined(different, "; ")));
  }

  void check_signed(report::Document& document) const {
    const evidence::SignatureCheck check = evidence::check_signature(pack_, signers_, identity_);
    if (check.there || !signers_.empty())
      document.gates.push_back(check_of("signature", check.good, check.text));
    else
      document.notices.push_back(check.text);
  }

  // Files that the commands read: those that are there have to be the same.
  void check_inputs(const evidence::Manifest& manifest, report::Document& document) const {
    std::vector<std::string> different;
    std::size_t there = 0;
    for (const evidence::InputFile& input : manifest.inputs) {
      const fs::path file = fs::path(from_) / input.path;
      if (!fs::is_regular_file(file)) continue;
      ++there;
      if (sha256_of_file(file) != input.sha256) different.push_back(file.string());
    }
    if (there > 0)
      document.gates.push_back(check_of(
          "inputs", different.empty(),
          different.empty() ? fmt::format("{} of {} are there and the same", there, manifest.inputs.size())
                            : "changed: " + joined(different)));
    if (there < manifest.inputs.size())
      document.notices.push_back(fmt::format("{} of {} input files are not there (--from FOLDER)",
                                             manifest.inputs.size() - there, manifest.inputs.size()));
  }

  std::vector<evidence::ManifestStep> chosen_steps(const evidence::Manifest& manifest) const {
    if (rerun_ == "all") return manifest.steps;
    std::vector<evidence::ManifestStep> chosen;
    std::vector<std::string> names;
    for (const evidence::ManifestStep& step : manifest.steps) names.push_back(step.name);
    for (std::size_t begin = 0; begin <= rerun_.size();) {
      const std::size_t end = std::min(rerun_.find('+', begin), rerun_.size());
      const std::string name = rerun_.substr(begin, end - begin);
      const auto found = std::ranges::find(manifest.steps, name, &evidence::ManifestStep::name);
      if (found == manifest.steps.end())
        fail(Fault::usage, "--rerun: no step is named '{}'; there are all, none, {}{}", name, joined(names),
             did_you_mean(name, names));
      chosen.push_back(*found);
      begin = end + 1;
    }
    return chosen;
  }

  void repeat(const evidence::Manifest& manifest, Context& context, report::Document& document) const {
    const std::vector<evidence::ManifestStep> steps = chosen_steps(manifest);
    report::Table table{"repeated",
                        "Commands run again",
                        {{"step", "step"},
                         {"same", "same figures", report::Column::Kind::count},
                         {"close", "within the tolerance", report::Column::Kind::count},
                         {"different", "different", report::Column::Kind::count},
                         {"first", "the first that differ"}},
                        {}};
    const ScratchFolder scratch;
    Stage stage(context.progress, "running commands again", steps.size(), "steps");
    for (const evidence::ManifestStep& step : steps) {
      repeat(step, scratch.path(), document, table);
      stage.advance(1, step.name);
    }
    document.tables.push_back(std::move(table));
  }

  void repeat(const evidence::ManifestStep& step, const fs::path& scratch, report::Document& document,
              report::Table& table) const {
    constexpr std::size_t most_named = 5;
    const std::string check = "step " + step.name;
    if (step.typed.empty()) {
      document.notices.push_back(
          fmt::format("{} was collected, not run: there is no command to run again", check));
      return;
    }
    if (!repeatable_commands().contains(step.typed[0])) {
      document.notices.push_back(
          fmt::format("{} is not run again: `assay {}` does more than measure", check, step.typed[0]));
      return;
    }
    evidence::require_file_name(step.name, "step");
    const std::vector<std::string> flags = flags_of(step.typed);
    if (std::ranges::find(flags, "trainer") != flags.end()) {
      document.notices.push_back(check + " is not run again: its --trainer names another program");
      return;
    }
    const bool learns = std::ranges::find(flags, "train") != flags.end();
    std::vector<std::string> refused;
    for (const std::string& flag : flags) {
      if (evidence::is_output_option(flag, learns)) refused.push_back("--" + flag);
    }
    if (!refused.empty())
      fail(Fault::data, "{}: its command has {}, which no command of a pack has", check, joined(refused));
    const fs::path file = scratch / (step.name + ".json");
    std::vector<std::string> command{this_program().string()};
    command.insert(command.end(), step.typed.begin(), step.typed.end());
    command.insert(command.end(), {"--json=" + file.string(), "--quiet", "--config=/dev/null"});
    const ProcessResult ended = run_process(command, {.folder = from_});
    if (!fs::exists(file)) {
      document.gates.push_back(
          check_of(check, false, fmt::format("ended with code {}: {}", ended.code, last_line(ended))));
      return;
    }
    const auto read = [](const fs::path& path) {
      return report::read_document(read_file(path), path.string());
    };
    evidence::FigureComparison found =
        evidence::compare_figures(read(fs::path(pack_) / step.file), read(file), tolerance_);
    const std::size_t different = found.different.size();
    found.different.resize(std::min(different, most_named));
    table.rows.push_back({step.name, report::count_cell(found.same), report::count_cell(found.close),
                          report::count_cell(different), joined(found.different, "; ")});
    document.gates.push_back(
        check_of(check, different == 0,
                 different == 0 ? fmt::format("{} figures came out the same", found.same + found.close)
                                : joined(found.different, "; ")));
  }

  std::string pack_, rerun_ = "none", from_ = ".", signers_, identity_;
  double tolerance_ = 1e-6;
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
