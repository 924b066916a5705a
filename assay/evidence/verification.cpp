#include "assay/evidence/verification.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>

#include <assay/error.h>
#include "assay/evidence/comparison.h"
#include "assay/evidence/manifest.h"
#include "assay/evidence/pack.h"
#include "assay/evidence/signature.h"
#include "assay/support/files/file.h"
#include "assay/support/files/sha256.h"
#include "assay/support/process.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;

// Commands that only measure.
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

class Verification {
 public:
  Verification(const fs::path& pack, const VerifyOptions& options)
      : pack_(pack), options_(options), manifest_(read_manifest(pack)) {}

  report::Document run(Progress& progress) {
    check_files();
    check_signed();
    check_inputs();
    const bool again = options_.rerun != "none";
    if (again) repeat(progress);
    const auto failed =
        std::ranges::count_if(document_.gates, [](const report::Gate& gate) { return !gate.passed; });
    document_.headline =
        failed == 0
            ? fmt::format("{}: {} files are as they were made; {}", pack_.string(), manifest_.files.size(),
                          again ? "figures came out the same" : "no command was run again")
            : fmt::format("{}: {} of {} checks failed", pack_.string(), failed, document_.gates.size());
    document_.facts = {{"title", "title", manifest_.title}, {"created", "made", manifest_.created}};
    return std::move(document_);
  }

 private:
  void check_files() {
    const std::vector<std::string> different = differences(manifest_, pack_);
    document_.gates.push_back(
        check_of("files", different.empty(),
                 different.empty() ? fmt::format("{} files have their SHA-256", manifest_.files.size())
                                   : joined(different, "; ")));
  }

  void check_signed() {
    const SignatureCheck check = check_signature(pack_, options_.signers, options_.identity);
    if (check.there || !options_.signers.empty())
      document_.gates.push_back(check_of("signature", check.good, check.text));
    else
      document_.notices.push_back(check.text);
  }

  // Files that the commands read: those that are there have to be the same.
  void check_inputs() {
    std::vector<std::string> different;
    std::size_t there = 0;
    for (const InputFile& input : manifest_.inputs) {
      const fs::path file = fs::path(options_.from) / input.path;
      if (!fs::is_regular_file(file)) continue;
      ++there;
      if (sha256_of_file(file) != input.sha256) different.push_back(file.string());
    }
    if (there > 0)
      document_.gates.push_back(check_of(
          "inputs", different.empty(),
          different.empty() ? fmt::format("{} of {} are there and the same", there, manifest_.inputs.size())
                            : "changed: " + joined(different)));
    if (there < manifest_.inputs.size())
      document_.notices.push_back(fmt::format("{} of {} input files are not there",
                                              manifest_.inputs.size() - there, manifest_.inputs.size()));
  }

  std::vector<ManifestStep> chosen_steps() const {
    if (options_.rerun == "all") return manifest_.steps;
    std::vector<ManifestStep> chosen;
    std::vector<std::string> names;
    for (const ManifestStep& step : manifest_.steps) names.push_back(step.name);
    for (const std::string& name : parts_of(options_.rerun, "+")) {
      const auto found = std::ranges::find(manifest_.steps, name, &ManifestStep::name);
      if (found == manifest_.steps.end())
        fail(Fault::usage, "steps to run again: no step is named '{}'; there are all, none, {}{}", name,
             joined(names), did_you_mean(name, names));
      chosen.push_back(*found);
    }
    return chosen;
  }

  void repeat(Progress& progress) {
    const std::vector<ManifestStep> steps = chosen_steps();
    report::Table table{"repeated",
                        "Commands run again",
                        {{"step", "step"},
                         {"same", "same figures", report::Column::Kind::count},
                         {"close", "within the tolerance", report::Column::Kind::count},
                         {"different", "different", report::Column::Kind::count},
                         {"first", "the first that differ"}},
                        {}};
    const ScratchFolder scratch;
    Stage stage(progress, "running commands again", steps.size(), "steps");
    for (const ManifestStep& step : steps) {
      repeat(step, scratch.path(), table);
      stage.advance(1, step.name);
    }
    document_.tables.push_back(std::move(table));
  }

  void repeat(const ManifestStep& step, const fs::path& scratch, report::Table& table) {
    constexpr std::size_t most_named = 5;
    const std::string check = "step " + step.name;
    if (step.typed.empty()) {
      document_.notices.push_back(
          fmt::format("{} was collected, not run: there is no command to run again", check));
      return;
    }
    if (!repeatable_commands().contains(step.typed[0])) {
      document_.notices.push_back(
          fmt::format("{} is not run again: `assay {}` is none of the commands that are ({})", check,
                      step.typed[0], joined({repeatable_commands().begin(), repeatable_commands().end()})));
      return;
    }
    require_file_name(step.name, "step");
    const std::vector<std::string> flags = flags_of(step.typed);
    if (std::ranges::find(flags, "trainer") != flags.end()) {
      document_.notices.push_back(check + " is not run again: its --trainer names another program");
      return;
    }
    const bool learns = std::ranges::find(flags, "train") != flags.end();
    std::vector<std::string> refused;
    for (const std::string& flag : flags) {
      if (is_output_option(flag, learns)) refused.push_back("--" + flag);
    }
    if (!refused.empty())
      fail(Fault::data, "{}: its command has {}, which no command of a pack has", check, joined(refused));
    const fs::path file = scratch / (step.name + ".json");
    std::vector<std::string> command{this_program().string()};
    command.insert(command.end(), step.typed.begin(), step.typed.end());
    command.insert(command.end(), {"--json=" + file.string(), "--quiet", "--config=/dev/null"});
    const ProcessResult ended = run_process(command, {.folder = options_.from});
    if (!fs::exists(file)) {
      document_.gates.push_back(
          check_of(check, false, fmt::format("ended with code {}: {}", ended.code, last_line(ended))));
      return;
    }
    const auto read = [](const fs::path& path) {
      return report::read_document(read_file(path), path.string());
    };
    FigureComparison found = compare_figures(read(pack_ / step.file), read(file), options_.tolerance);
    const std::size_t different = found.different.size();
    found.different.resize(std::min(different, most_named));
    table.rows.push_back({step.name, report::count_cell(found.same), report::count_cell(found.close),
                          report::count_cell(different), joined(found.different, "; ")});
    document_.gates.push_back(
        check_of(check, different == 0,
                 different == 0 ? fmt::format("{} figures came out the same", found.same + found.close)
                                : joined(found.different, "; ")));
  }

  const fs::path pack_;
  const VerifyOptions& options_;
  const Manifest manifest_;
  report::Document document_;
};

}  // namespace

report::Document verify(const fs::path& pack, const VerifyOptions& options, Progress& progress) {
  return Verification(pack, options).run(progress);
}

}  // namespace assay::evidence
