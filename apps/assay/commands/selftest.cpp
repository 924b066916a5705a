// assay selftest: whether this installation computes what other programs computed.

#include <assay/attack.h>
#include <assay/audit.h>
#include <assay/error.h>
#include <assay/extend/clustering.h>
#include <assay/extend/constraint.h>
#include <assay/extend/criteria.h>
#include <assay/extend/data_format.h>
#include <assay/extend/hypothesis.h>
#include <assay/extend/measure.h>
#include <assay/extend/mutation_operator.h>
#include <assay/extend/optimisers.h>
#include <assay/extend/rule.h>
#include <assay/extend/task.h>
#include <assay/relevance.h>
#include <assay/selection.h>
#include <assay/training.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/program.h"
#include "assay/selftest/run.h"
#include "assay/support/files/file.h"
#include "assay/support/files/temporary_folder.h"

namespace assay::app {
namespace {

constexpr const char* suite_file = "suite.json";

template <typename Entries>
void add_names(const std::string& family, const Entries& entries, std::vector<std::string>& names) {
  for (const auto& entry : entries) names.push_back(family + ":" + std::string(entry.name));
}

// All that the program can do and that has a name.
std::vector<std::string> functions_of_program() {
  std::vector<std::string> names;
  add_names("command", commands(), names);
  add_names("criterion", coverage::criteria(), names);
  add_names("attribution", relevance::attributions(), names);
  add_names("rule", relevance::rules(), names);
  add_names("clusterer", clustering::clusterers(), names);
  add_names("operator", mutation::operators(), names);
  add_names("attack", attack::attacks(), names);
  add_names("constraint", explore::constraints(), names);
  add_names("hypothesis", inspection::annotators(), names);
  add_names("measure", inspection::measures(), names);
  add_names("task", task::tasks(), names);
  add_names("doubt", selection::doubts(), names);
  add_names("sampler", audit::samplers(), names);
  add_names("format", data_formats(), names);
  add_names("architecture", training::architectures(), names);
  add_names("optimiser", training::optimisers(), names);
  add_names("loss", training::losses(), names);
  add_names("initialiser", training::initialisers(), names);
  add_names("regulariser", training::regularisers(), names);
  add_names("rendering", report::renderers(), names);
  return names;
}

class Selftest final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take_those_of_networks();
    flags.naming(Concept::input)
        .add("--suite FILE.json", file_,
             "checks of this file instead of the program's, in the form that --write gives");
    flags.add_output("--write FOLDER", folder_,
                     "write the checks and the networks and data that they are about, instead of "
                     "running them");
    of_running_ = [flags] {
      return flags.named({"--threads", "--batch", "--device", "--engine", "--memory"});
    };
  }

  report::Document run(Context& context) override {
    const std::string text = file_.empty() ? std::string(selftest::built_in_suite()) : read_file(file_);
    const selftest::Suite suite =
        selftest::read_suite(text, file_.empty() ? "the program's suite" : "'" + file_ + "'");
    if (!folder_.empty()) {
      refuse_without_effect(of_running_(), of_flags("with --write: no check is run"));
      return written(suite, text);
    }
    const TemporaryFolder folder("selftest");
    const Settings& settings = context.settings;
    const frame::FlagValues for_all{{"threads", {std::to_string(settings.threads)}},
                                    {"batch", {std::to_string(settings.batch)}},
                                    {"device", {settings.device}},
                                    {"engine", {settings.engine}},
                                    {"memory", {fmt::format("{}", settings.memory_gib)}}};
    const auto ask = [&](const std::string& command, const frame::FlagValues& values) {
      return frame::ask(program(), command, values, silence(), {}, for_all);
    };
    const std::vector<selftest::Finding> findings =
        selftest::run(suite, ask, folder.path(), context.progress);
    return selftest::document_of(suite, findings, selftest::traced(suite, functions_of_program()));
  }

 private:
  // For reviewers, who compute the values again.
  report::Document written(const selftest::Suite& suite, const std::string& text) const {
    const std::filesystem::path folder(folder_);
    for (const auto& [name, bytes] : suite.files) write_file(folder / name, bytes);
    write_file(folder / suite_file, text);
    report::Document document;
    document.headline =
        fmt::format("{} questions and {} files are in {}", suite.cases.size(), suite.files.size(), folder_);
    return document;
  }

  std::string file_, folder_;
  std::function<std::vector<const CLI::Option*>()> of_running_;  // declared after the command's own flags
};

}  // namespace

CommandInfo selftest_command() {
  return {"selftest",
          "whether this installation computes what other programs computed: checks with expected values",
          "  assay selftest\n"
          "  assay selftest --html selftest.html --junit selftest.xml\n"
          "  assay selftest --write suite",
          make_command<Selftest>, assure_group};
}

}  // namespace assay::app
