// assay evidence: what was asked, run and found, as a folder that somebody else can check.

#include "assay/evidence/study.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <thread>

#include <assay/error.h>
#include <assay/extend/question.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/study_file.h"
#include "apps/assay/version.h"
#include "assay/evidence/pack.h"
#include "assay/evidence/requirements.h"
#include "assay/evidence/signature.h"
#include "assay/evidence/traceability.h"
#include "assay/evidence/zip.h"
#include "assay/support/file.h"
#include "assay/support/process.h"
#include "assay/support/sha256.h"

namespace assay::app {
namespace {

namespace fs = std::filesystem;

std::string utc_now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
  }
  return "not known";
}

bool has_argument(const evidence::Step& step, const std::string& name) {
  return std::ranges::any_of(step.arguments, [&](const std::string& argument) {
    return argument == "--" + name || argument.starts_with("--" + name + "=");
  });
}

// Files that the text of an option names: a network with what lies beside it, a data set with its labels.
std::vector<fs::path> named_files(const std::string& text) {
  std::vector<fs::path> candidates{text, text + ".data", fs::path(text).replace_extension(".json")};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(",[]=", begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    candidates.insert(candidates.end(), {part, part + ".data"});
    begin = end + 1;
  }
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& path) {
    std::error_code code;
    if (path.empty() || std::ranges::find(files, path) != files.end()) return;
    if (fs::is_regular_file(path, code)) files.push_back(path);
    if (!fs::is_directory(path, code)) return;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path());
  };
  for (const fs::path& path : candidates) {
    add(path);
    // Labels of IDX images lie beside them under this name.
    std::string name = path.filename().string();
    const std::size_t images = name.find("images-idx3");
    if (images != std::string::npos) add(path.parent_path() / name.replace(images, 11, "labels-idx1"));
  }
  return files;
}

class EvidenceCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--title", title_, "title of the pack")->type_name("TEXT");
    app.add_option("--model", model_, "network of all steps")->type_name("FILE");
    app.add_option("--train", train_, "training records of all steps")->type_name("SPEC");
    app.add_option("--test", test_, "test records of all steps")->type_name("SPEC");
    app.add_option("--not-done", not_done_, "what the study leaves open, for the report; may be repeated")
        ->type_name("TEXT");
    app.add_option("--out", out_, "folder of the pack")->type_name("FOLDER");
    app.add_option("--zip", zip_, "the pack as an archive, too")->type_name("FILE.zip");
    app.add_option("--sign", key_, "sign the manifest with this OpenSSH key (ssh-keygen -Y)")
        ->type_name("FILE");
    app.description(app.get_description() +
                    "\n\nSteps and requirements stand in the configuration file as [[evidence.step]] and "
                    "[[evidence.requirement]] (docs/evidence.md); without steps: evaluate, cover, mutate.");
  }

  std::vector<Output> outputs() const override {
    return {{"--out", out_, Output::Kind::folder}, {"--zip", zip_}};
  }

  report::Document run(Context& context) override {
    evidence::PackContents contents;
    StudyFile file;
    if (!context.settings.config.empty()) file = read_study(context.settings.config);
    contents.study = file.study;
    contents.study.title = title_;
    contents.study.not_done = not_done_;
    complete(contents.study, file);
    evidence::check_study(contents.study);
    if (!key_.empty() && !evidence::can_sign())
      fail(Fault::io, "ssh-keygen is not there; install OpenSSH, or leave out --sign");
    prepare_folder(context.settings.force);
    Stage stage(context.progress, "gathering evidence", contents.study.steps.size(), "steps");
    for (const evidence::Step& step : contents.study.steps) {
      contents.results.push_back(step.collected.empty() ? run_step(step, context) : collect(step));
      stage.advance(1, step.name);
    }
    if (!context.settings.config.empty())
      write_file(fs::path(out_) / "study.toml", read_file(context.settings.config));
    contents.inputs = inputs_of(contents.results);
    contents.program = component_versions();
    contents.program.insert(contents.program.begin() + 1, {"commit", commit()});
    contents.machine = {{"processor", processor()},
                        {"cores", std::to_string(std::thread::hardware_concurrency())},
                        {"threads asked for", std::to_string(context.settings.threads)},
                        {"device", context.settings.device}};
    contents.created = utc_now();
    contents.is_signed = !key_.empty();
    const std::vector<evidence::Outcome> outcomes = evidence::write_pack(contents, out_);
    if (!key_.empty()) evidence::sign_manifest(out_, key_);
    if (!zip_.empty()) evidence::write_zip(out_, zip_);
    return document_of(contents, outcomes);
  }

 private:
  // The steps that the study does not name: what is told of network and data in any case.
  void complete(evidence::Study& study, const StudyFile& file) const {
    if (study.steps.empty()) {
      for (const char* command : {"evaluate", "cover", "mutate"})
        study.steps.push_back({command, command, {}, ""});
    }
    const auto lacks = [&](const evidence::Step& step, const std::string& flag) {
      return !has_argument(step, flag) && !file.given.contains({step.command, flag});
    };
    for (evidence::Step& step : study.steps) {
      if (!step.collected.empty()) continue;
      const auto give = [&](const std::string& flag, const std::string& value) {
        if (!value.empty() && lacks(step, flag)) step.arguments.push_back("--" + flag + "=" + value);
      };
      if (step.command != "data") give("model", model_);
      if (step.command == "cover" || step.command == "select") give("train", train_);
      if (step.command == "cover" || step.command == "select" || step.command == "mutate")
        give("test", test_);
      if (step.command == "evaluate" || step.command == "attack") give("data", test_);
      if (step.command == "importance") give("data", train_);
    }
    std::vector<evidence::Step> first;
    const auto add = [&](const char* name, const char* command, const std::string& flag,
                         const std::string& value) {
      if (!value.empty()) first.push_back({name, command, {"--" + flag + "=" + value}, ""});
    };
    add("network", "model", "model", model_);
    if (!first.empty() && !train_.empty()) first.back().arguments.push_back("--data=" + train_);
    add("training-data", "data", "data", train_);
    add("test-data", "data", "data", test_);
    std::erase_if(first, [&](const evidence::Step& step) {
      return std::ranges::find(study.steps, step.name, &evidence::Step::name) != study.steps.end();
    });
    study.steps.insert(study.steps.begin(), first.begin(), first.end());
    for (const evidence::Step& step : study.steps) evidence::require_file_name(step.name, "step");
  }

  // A finished pack stays; what an interrupted run left is gone on from.
  void prepare_folder(bool force) const {
    const fs::path manifest = fs::path(out_) / evidence::manifest_name;
    if (fs::exists(manifest)) {
      if (!force)
        fail(Fault::usage, "{} holds an evidence pack; name another folder, or replace it with --force",
             out_);
      for (const evidence::PackFile& file : evidence::read_manifest(out_).files)
        fs::remove(fs::path(out_) / file.path);
      fs::remove(manifest);
      fs::remove(fs::path(out_) / evidence::signature_name);
    }
    if (fs::exists(out_)) {
      const bool begun = fs::is_directory(fs::path(out_) / evidence::results_folder) &&
                         fs::is_directory(fs::path(out_) / evidence::states_folder);
      for (const fs::directory_entry& entry : fs::directory_iterator(out_)) {
        const std::string name = entry.path().filename().string();
        if (entry.is_directory() &&
            (fs::is_empty(entry) || name == evidence::results_folder || name == evidence::states_folder))
          continue;
        if (begun && evidence::is_part_of_pack(name)) continue;
        fail(Fault::usage, "{} holds other files ({}); name a folder of its own", out_, name);
      }
    }
    make_folders(fs::path(out_) / evidence::results_folder);
    make_folders(fs::path(out_) / evidence::states_folder);
  }

  evidence::StepResult run_step(const evidence::Step& step, Context& context) const {
    const std::string file = std::string(evidence::results_folder) + "/" + step.name + ".json";
    const fs::path states = fs::path(out_) / evidence::states_folder;
    std::vector<std::string> command{this_program().string(), step.command};
    const auto add = [&](const std::string& flag, const std::string& value) {
      if (has_argument(step, flag)) return;
      command.push_back("--" + flag);
      if (!value.empty()) command.push_back(value);
    };
    if (!context.settings.config.empty()) add("config", context.settings.config);
    command.insert(command.end(), step.arguments.begin(), step.arguments.end());
    command.push_back("--json=" + (fs::path(out_) / file).string());
    add("quiet", "");
    add("seed", std::to_string(context.settings.seed));
    if (context.settings.threads > 0) add("threads", std::to_string(context.settings.threads));
    if (context.settings.force) add("force", "");
    if (step.command == "cover" || step.command == "mutate" || step.command == "inspect")
      add("state", (states / (step.name + ".state")).string());
    if (step.command == "cover" && !has_argument(step, "profile"))
      add("profile", (states / (step.name + ".profile")).string());
    const ProcessResult ended = run_process(command);
    constexpr int gate_failed = 2, warned = 9;
    if (ended.code != 0 && ended.code != gate_failed && ended.code != warned)
      fail(Fault::mismatch, "step '{}' (assay {}) ended with code {}: {}", step.name, step.command,
           ended.code, last_line(ended));
    evidence::StepResult result{step, read_result(fs::path(out_) / file), ended.code, {}, file};
    for (const auto& [key, value] : result.document.provenance) {
      const auto* options = std::get_if<std::string>(&value);
      if (key == "options" && options != nullptr) result.typed = evidence::repeatable(step.command, *options);
    }
    return result;
  }

  static report::Document read_result(const fs::path& file) {
    return report::read_document(read_file(file), file.string());
  }

  evidence::StepResult collect(const evidence::Step& step) const {
    const std::string file = std::string(evidence::results_folder) + "/" + step.name + ".json";
    evidence::StepResult result{step, read_result(step.collected), 0, {}, file};
    result.step.command = result.document.command;
    write_file(fs::path(out_) / file, read_file(step.collected));
    return result;
  }

  static std::vector<evidence::InputFile> inputs_of(const std::vector<evidence::StepResult>& results) {
    static const std::map<std::string, std::string> roles{{"model", "network"},
                                                          {"train", "training data"},
                                                          {"test", "test data"},
                                                          {"data", "data"},
                                                          {"profile", "profile"}};
    std::vector<evidence::InputFile> inputs;
    for (const evidence::StepResult& result : results) {
      for (std::size_t i = 0; i + 1 < result.typed.size(); ++i) {
        if (!result.typed[i].starts_with("--")) continue;
        const auto role = roles.find(result.typed[i].substr(2));
        if (role == roles.end()) continue;
        for (const fs::path& file : named_files(result.typed[i + 1])) {
          const auto known = std::ranges::find(inputs, file.string(), &evidence::InputFile::path);
          if (known != inputs.end()) {
            if (known->role == "data") known->role = role->second;
            continue;
          }
          inputs.push_back({role->second, file.string(), sha256_of_file(file), fs::file_size(file)});
        }
      }
    }
    return inputs;
  }

  report::Document document_of(const evidence::PackContents& contents,
                               const std::vector<evidence::Outcome>& outcomes) const {
    report::Document document;
    std::size_t met = 0;
    for (std::size_t r = 0; r < contents.study.requirements.size(); ++r) met += evidence::is_met(r, outcomes);
    document.headline = fmt::format("{}: {} steps, {} of {} requirements hold{}{}", out_,
                                    contents.results.size(), met, contents.study.requirements.size(),
                                    key_.empty() ? "" : "; signed", zip_.empty() ? "" : "; also " + zip_);
    report::Table steps{"steps",
                        "Steps",
                        {{"step", "step"}, {"command", "command"}, {"headline", "result"}, {"file", "file"}},
                        {}};
    for (const evidence::StepResult& result : contents.results)
      steps.rows.push_back({result.step.name, result.step.command, result.document.headline, result.file});
    document.tables = {evidence::requirement_table(contents.study, outcomes, contents.results), steps};
    for (const evidence::Outcome& outcome : outcomes) {
      document.gates.push_back(outcome.gate);
      document.gates.back().text =
          contents.study.requirements[outcome.requirement].id + ": " + outcome.gate.text;
    }
    return document;
  }

  std::string title_ = "Evidence", model_, train_, test_, out_ = "assay-evidence", zip_, key_;
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
