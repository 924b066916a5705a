#include "assay/evidence/verification.h"

#include <algorithm>
#include <map>
#include <optional>

#include <assay/error.h>
#include "assay/evidence/approvals.h"
#include "assay/evidence/comparison.h"
#include "assay/evidence/impact.h"
#include "assay/evidence/opened_pack.h"
#include "assay/evidence/repetition.h"
#include "assay/evidence/requirements.h"
#include "assay/evidence/signature.h"
#include "assay/evidence/step_commands.h"
#include "assay/evidence/traceability.h"
#include "assay/evidence/verdict.h"
#include "assay/report/table_of.h"
#include "assay/support/files/file.h"
#include "assay/support/files/sha256.h"
#include "assay/support/process.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/shell.h"
#include "assay/support/text/text.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;

report::Gate check_of(std::string text, bool passed, std::string reason) {
  report::Gate gate;
  gate.text = std::move(text);
  gate.criterion = "evidence";
  gate.threshold = "0";
  gate.passed = passed;
  gate.reason = std::move(reason);
  return gate;
}

report::Document result_in(const fs::path& file) {
  return report::read_document(read_file(file), file.string());
}

// Files that come out otherwise when they are made of the results once more.
std::vector<std::string> differing_reports(const Manifest& manifest, const fs::path& pack,
                                           const PackContents& contents, std::span<const Outcome> outcomes) {
  std::map<std::string, std::string> made = made_files(contents, outcomes);
  made.merge(made_reports(contents, outcomes, manifest.files));
  std::vector<std::string> different;
  for (const auto& [path, text] : made) {
    std::error_code code;
    if (!fs::is_regular_file(pack / path, code) || read_file(pack / path) != text) different.push_back(path);
  }
  return different;
}

// The command that a result says it is of, without its outputs.
std::vector<std::string> recorded_command(const report::Document& document) {
  for (const auto& [key, value] : document.provenance) {
    const auto* const options = std::get_if<std::string>(&value);
    if (key == "options" && options != nullptr) return repeatable(document.command, *options);
  }
  return {document.command};
}

class Verification {
 public:
  Verification(const fs::path& pack, const VerifyOptions& options)
      : name_(pack.string()),
        opened_(pack),
        pack_(opened_.folder()),
        options_(options),
        manifest_(read_manifest(pack_)) {}

  report::Document run(Progress& progress) {
    check_files();
    read_contents();
    check_signed();
    check_inputs();
    check_commands();
    check_reports();
    if (options_.rerun != "none") repeat(progress);
    tell_verdict();
    return std::move(document_);
  }

 private:
  // The requirements first, then what was checked.
  void tell_verdict() {
    const auto failed =
        std::ranges::count_if(document_.gates, [](const report::Gate& gate) { return !gate.passed; });
    const std::string checked =
        failed == 0 ? fmt::format("{} files are as the manifest says; {}; {}", manifest_.files.size(),
                                  signed_text_, repeated_text())
                    : fmt::format("{} of {} checks failed; {}", failed, document_.gates.size(), signed_text_);
    if (!contents_) {
      document_.headline = fmt::format("{}: {}", name_, checked);
      document_.facts = {{"title", "title", manifest_.title}, {"created", "made", manifest_.created}};
      return;
    }
    const bool decides = !manifest_.requirements.empty() || !manifest_.approvals.empty();
    std::vector<report::Gate> gates = verdict_gates(*contents_, outcomes_);
    document_.headline =
        decides || !gates.empty()
            ? fmt::format("{}: {}; {}", name_, verdict_sentence(*contents_, outcomes_), checked)
            : fmt::format("{}: no requirement; {}", name_, checked);
    document_.facts = identifying_facts(*contents_);
    document_.gates.insert(document_.gates.begin(), gates.begin(), gates.end());
    add_decisions();
  }

  // In full, for files; gates and facts tell them already.
  void add_decisions() {
    std::vector<report::Table> tables;
    if (!manifest_.approvals.empty()) tables.push_back(approval_table(manifest_.approvals));
    if (!manifest_.requirements.empty())
      tables.push_back(requirement_table(contents_->study, outcomes_, contents_->results));
    for (report::Table& table : tables) table.detail = true;
    document_.tables.insert(document_.tables.begin(), tables.begin(), tables.end());
  }

  // What the manifest and the results say of requirements and persons. Where they do not, that is a fault.
  void read_contents() {
    if (!files_are_there_ || !manifest_.tells_report) return;
    try {
      contents_ = contents_of(manifest_, pack_);
      contents_->former = former_of(pack_);
      outcomes_ = outcomes_of(contents_->study, contents_->results);
    } catch (const Error& error) {
      if (error.fault() != Fault::data && error.fault() != Fault::usage) throw;
      contents_.reset();
      unreadable_ = error.what();
    }
  }

  // Many faults are named by the first ones.
  void check(std::string name, std::vector<std::string> faults, std::string good) {
    constexpr std::size_t most = 10;
    if (faults.size() > most) {
      const std::size_t more = faults.size() - most;
      faults.resize(most);
      faults.push_back(fmt::format("and {} more", more));
    }
    document_.gates.push_back(
        check_of(std::move(name), faults.empty(), faults.empty() ? std::move(good) : joined(faults, "; ")));
  }

  void check_files() {
    files_are_there_ = true;
    const std::vector<std::string> different = differences(manifest_, pack_);
    for (const ManifestStep& step : manifest_.steps)
      files_are_there_ = files_are_there_ && fs::is_regular_file(pack_ / step.file);
    check("files", different, fmt::format("{} files have their SHA-256", manifest_.files.size()));
  }

  void check_signed() {
    const SignatureCheck found = check_signature(pack_, options_.signers, options_.identity);
    const bool asked = !options_.signers.empty();
    trusted_ = found.good && asked;
    signed_text_ = !found.there  ? "not signed"
                   : !found.good ? "its signature is not valid"
                   : asked       ? fmt::format("signed by {}", options_.identity)
                                 : "signed with a key that was not checked";
    if (asked || (found.there && !found.good))
      document_.gates.push_back(check_of("signature", found.good, found.text));
    else if (found.there)
      document_.notices.push_back(found.text + "; whose key it is was not checked: anybody can sign");
    else
      document_.notices.push_back(found.text + ": anyone who changed it could rewrite the manifest");
    if (!found.there && manifest_.is_signed)
      document_.gates.push_back(
          check_of("signature", false, "the manifest says it is signed, but it is not"));
    check_approvals();
    if (found.good && !manifest_.approvals.empty()) check_signatory(found.key);
  }

  // A configuration with such an approval would have been refused.
  void check_approvals() {
    std::vector<std::string> faults;
    for (const Approval& one : manifest_.approvals) {
      if (std::string fault = fault_of(one); !fault.empty()) faults.push_back(std::move(fault));
    }
    if (!faults.empty()) check("approvals", faults, "");
  }

  // Whether who signed is one of the persons who decided.
  void check_signatory(const std::string& key) {
    const Signatory found = signatory_among(manifest_.approvals, options_.identity, key);
    signed_text_ += found.kind == Signatory::Kind::named     ? ", who is named in its approvals"
                    : found.kind == Signatory::Kind::unknown ? ", of somebody whom its approvals do not name"
                                                             : "";
    if (found.kind == Signatory::Kind::undecided)
      document_.notices.push_back(found.text);
    else
      document_.gates.push_back(check_of("signatory", found.kind == Signatory::Kind::named, found.text));
  }

  // Files that the commands read: those that are there have to be the same, and none may be left out.
  void check_inputs() {
    std::vector<std::string> faults;
    std::size_t there = 0;
    for (const InputFile& input : manifest_.inputs) {
      const fs::path file = fs::path(options_.from) / input.path;
      if (!fs::is_regular_file(file)) continue;
      ++there;
      if (sha256_of_file(file) != input.sha256) faults.push_back("changed: " + file.string());
    }
    std::vector<std::vector<std::string>> commands;
    for (const ManifestStep& step : manifest_.steps) {
      if (!step.typed.empty()) commands.push_back(options_.in_new_words(step.typed));
    }
    for (const std::string& name : unlisted_inputs(commands, manifest_.inputs, options_.from))
      faults.push_back("not listed: " + name);
    if (there > 0 || !faults.empty())
      check("inputs", faults, fmt::format("{} of {} are there and the same", there, manifest_.inputs.size()));
    if (there < manifest_.inputs.size())
      document_.notices.push_back(message("{} of {} input files are not there{}",
                                          manifest_.inputs.size() - there, manifest_.inputs.size(),
                                          About{"", " ({from=FOLDER})"}));
  }

  // The manifest's commands are those that the results are of.
  void check_commands() {
    std::vector<std::string> others;
    for (const ManifestStep& step : manifest_.steps) {
      if (step.typed.empty() || !fs::is_regular_file(pack_ / step.file)) continue;
      std::string typed;
      for (std::size_t i = 1; i < step.typed.size(); ++i) typed.append(" ").append(shell_word(step.typed[i]));
      if (recorded_command(result_in(pack_ / step.file)) != repeatable(step.typed[0], typed))
        others.push_back(
            fmt::format("{} is the result of another command than that of step {}", step.file, step.name));
    }
    check("commands", others, "results are of the commands that the manifest names");
  }

  // Reports say what the results say.
  void check_reports() {
    if (!files_are_there_) return;
    if (!manifest_.tells_report)
      return check("reports", {"the manifest does not say what the report was made of; make the pack again"},
                   "");
    if (!contents_)
      return check("reports", {fmt::format("no report follows from the results: {}", unreadable_)}, "");
    std::vector<std::string> different = differing_reports(manifest_, pack_, *contents_, outcomes_);
    const bool same_program = manifest_.program == options_.program;
    if (!different.empty() && !same_program && trusted_) {
      document_.notices.push_back(
          fmt::format("{} were made by another version of the program and are not compared with the results",
                      joined(different)));
      return;
    }
    for (std::string& path : different) path += " is not what the results give";
    if (!different.empty() && !same_program)
      different.emplace_back("another version of the program made the pack, which may be why");
    check("reports", different, "reports are what the results give");
  }

  std::vector<ManifestStep> chosen_steps() const {
    if (options_.rerun == "all") return manifest_.steps;
    std::vector<ManifestStep> chosen;
    std::vector<std::string> names;
    for (const ManifestStep& step : manifest_.steps) names.push_back(step.name);
    for (const std::string& name : parts_of(options_.rerun, "+")) {
      const auto found = std::ranges::find(manifest_.steps, name, &ManifestStep::name);
      if (found == manifest_.steps.end())
        fail(Fault::usage, "{}: no step is named '{}'; there are all, none, {}{}",
             About{"steps to run again", "{rerun}"}, name, joined(names), did_you_mean(name, names));
      chosen.push_back(*found);
    }
    return chosen;
  }

  void repeat(Progress& progress) {
    const std::vector<ManifestStep> steps = chosen_steps();
    const FreshFolder fresh(manifest_.inputs, options_.from);
    Stage stage(progress, "running commands again", steps.size(), "steps");
    for (const ManifestStep& step : steps) {
      repeat(step, fresh);
      stage.advance(1, step.name);
    }
    document_.tables.push_back(report::table_of(
        "repeated", "Commands run again", compared_,
        {{"step", &ComparedStep::step},
         {"same", "same figures", [](auto& one) { return one.found.same; }},
         {"close", "within the tolerance", [](auto& one) { return one.found.close; }},
         {"different", &ComparedStep::different},
         {"first", "the first that differ", [](auto& one) { return joined(one.found.different, "; "); }}}));
    chosen_ = steps.size();
    if (repeated_ == 0)
      document_.gates.push_back(
          check_of("commands run again", false, "none was, so no figure came out again"));
  }

  // "figures came out the same in 3 of 5 steps, the others were not run again".
  std::string repeated_text() const {
    if (options_.rerun == "none") return "no command was run again (--rerun)";
    return repeated_ == chosen_ ? fmt::format("figures came out the same in {} steps", repeated_)
                                : fmt::format(
                                      "figures came out the same in {} of {} steps, the others were not "
                                      "run again",
                                      repeated_, chosen_);
  }

  void repeat(const ManifestStep& step, const FreshFolder& fresh) {
    const std::string name = "step " + step.name;
    if (step.typed.empty()) {
      document_.notices.push_back(
          fmt::format("{} was collected, not run, so there is no command to run again", name));
      return;
    }
    const std::vector<std::string> typed = without_idle(options_.in_new_words(step.typed));
    if (const std::string reason = why_not_repeated(typed, name); !reason.empty()) {
      document_.notices.push_back(fmt::format("{} is not run again: {}", name, reason));
      return;
    }
    require_file_name(step.name, "step");
    ++repeated_;
    const fs::path file = fresh.path() / (step.name + ".json");
    std::vector<std::string> command{this_program().string()};
    command.insert(command.end(), typed.begin(), typed.end());
    command.insert(command.end(), {"--json=" + file.string(), "--quiet", "--config=/dev/null"});
    const ProcessResult ended =
        run_process(command, {.folder = fresh.work(), .writes_only_in = fresh.path()});
    if (!fs::exists(file)) {
      document_.gates.push_back(
          check_of(name, false, fmt::format("ended with code {}: {}", ended.code, last_line(ended))));
      return;
    }
    compare(step, file);
  }

  void compare(const ManifestStep& step, const fs::path& file) {
    constexpr std::size_t most_named = 5;
    FigureComparison found =
        compare_figures(result_in(pack_ / step.file), result_in(file), options_.tolerance);
    const std::size_t different = found.different.size();
    found.different.resize(std::min(different, most_named));
    check("step " + step.name, found.different,
          fmt::format("{} figures came out the same", found.same + found.close));
    compared_.push_back({step.name, std::move(found), different});
  }

  struct ComparedStep {
    std::string step;
    FigureComparison found;  // names only the first that differ
    std::size_t different;
  };

  const std::string name_;
  const OpenedPack opened_;
  const fs::path pack_;
  const VerifyOptions& options_;
  const Manifest manifest_;
  std::optional<PackContents> contents_;
  std::vector<Outcome> outcomes_;
  report::Document document_;
  std::string signed_text_;
  std::string unreadable_;
  bool trusted_ = false, files_are_there_ = false;
  std::size_t chosen_ = 0, repeated_ = 0;
  std::vector<ComparedStep> compared_;
};

}  // namespace

report::Document verify(const fs::path& pack, const VerifyOptions& options, Progress& progress) {
  return Verification(pack, options).run(progress);
}

}  // namespace assay::evidence
