#include "assay/evidence/gathering.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <thread>

#include <assay/error.h>
#include <assay/gate.h>
#include "assay/evidence/repetition.h"
#include "assay/evidence/signature.h"
#include "assay/evidence/step_commands.h"
#include "assay/support/files/file.h"
#include "assay/support/files/input_file.h"
#include "assay/support/files/sha256.h"
#include "assay/support/machine.h"
#include "assay/support/process.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;

bool has_argument(const Step& step, const std::string& name) {
  return std::ranges::any_of(step.arguments, [&](const std::string& argument) {
    return argument == "--" + name || argument.starts_with("--" + name + "=");
  });
}

// The steps about network and data that every pack has.
std::vector<Step> first_steps(const Subject& subject) {
  std::vector<Step> steps;
  const auto add = [&](const char* name, const char* command, const std::string& flag,
                       const std::string& value) {
    if (!value.empty()) steps.push_back({name, command, {"--" + flag + "=" + value}, ""});
  };
  add("network", "model", "model", subject.model);
  if (!steps.empty() && !subject.train.empty()) steps.back().arguments.push_back("--data=" + subject.train);
  add("training-data", "data", "data", subject.train);
  add("test-data", "data", "data", subject.test);
  return steps;
}

constexpr int gate_failed = 2, warned = 9;  // docs/exit-codes.md

// Of one network model_hash, of several that and their names.
std::set<std::string> model_hashes_of(const StepResult& result) {
  std::set<std::string> hashes;
  for (const auto& [key, value] : result.document.provenance) {
    const auto* const text = std::get_if<std::string>(&value);
    if (key.starts_with("model_hash") && text != nullptr && !text->empty()) hashes.insert(*text);
  }
  return hashes;
}

// A result that is collected is of a network that a step of the study ran.
void require_networks_of_study(const std::vector<StepResult>& results) {
  std::set<std::string> known;
  for (const StepResult& result : results) {
    if (result.step.collected.empty()) known.merge(model_hashes_of(result));
  }
  if (known.empty()) return;
  for (const StepResult& result : results) {
    if (result.step.collected.empty() || result.document.command == "data") continue;
    const std::set<std::string> hashes = model_hashes_of(result);
    if (hashes.empty())
      fail(Fault::mismatch,
           "step '{}': {} does not say which network it is about (it has no model_hash); collect a result as "
           "the program wrote it",
           result.step.name, result.step.collected);
    if (std::ranges::any_of(hashes, [&](const std::string& hash) { return known.contains(hash); })) continue;
    fail(Fault::mismatch,
         "step '{}': {} is a result of a network (hash {}) that no step of this study runs; collect one of "
         "its network, or add a step for that one",
         result.step.name, result.step.collected, *hashes.begin());
  }
}

report::Document read_result(const fs::path& file) {
  return report::read_document(read_file(file), file.string());
}

std::vector<std::string> command_of(const Step& step, const GatherOptions& options) {
  std::vector<std::string> command{this_program().string(), step.command};
  const auto add = [&](const std::string& flag, const std::string& value) {
    if (has_argument(step, flag) || is_idle(step.command, flag)) return;
    command.push_back("--" + flag);
    if (!value.empty()) command.push_back(value);
  };
  if (!options.config.empty() && options.config_is_named) add("config", options.config.string());
  command.insert(command.end(), step.arguments.begin(), step.arguments.end());
  command.push_back("--json=" + (options.folder / result_file(step)).string());
  for (const auto& [flag, value] : options.flags) add(flag, value);
  const std::string kept = (options.folder / states_folder / step.name).string();
  for (const auto& [name, flag] : step_command(step.command).flags) {
    if (flag.written && (flag.files == "state" || flag.files == "profile"))
      add(name, kept + "." + flag.files);
  }
  return command;
}

// Meaning of a command's exit code (docs/exit-codes.md).
Fault fault_of(int exit_code) {
  static const std::map<int, Fault> faults{{1, Fault::usage},
                                           {3, Fault::model},
                                           {4, Fault::unsupported},
                                           {5, Fault::data},
                                           {6, Fault::mismatch},
                                           {7, Fault::io},
                                           {8, Fault::resources},
                                           {128 + SIGHUP, Fault::interrupted},
                                           {128 + SIGINT, Fault::interrupted},
                                           {128 + SIGTERM, Fault::interrupted},
                                           {128 + SIGKILL, Fault::resources}};
  const auto found = faults.find(exit_code);
  return found == faults.end() ? Fault::internal : found->second;
}

StepResult run_step(const Step& step, const GatherOptions& options) {
  const ProcessResult ended = run_process(command_of(step, options));
  if (ended.code != 0 && ended.code != gate_failed && ended.code != warned)
    fail(fault_of(ended.code), "step '{}' (assay {}) ended with code {}: {}", step.name, step.command,
         ended.code, last_line(ended));
  const std::string file = result_file(step);
  StepResult result{step, read_result(options.folder / file), ended.code, {}, file};
  for (const auto& [key, value] : result.document.provenance) {
    const auto* typed = std::get_if<std::string>(&value);
    if (key == "options" && typed != nullptr) result.typed = repeatable(step.command, *typed);
  }
  return result;
}

StepResult collect_step(const Step& step, const GatherOptions& options) {
  const std::string file = result_file(step);
  StepResult result{step, read_result(step.collected), 0, {}, file};
  result.step.command = result.document.command;
  if (report::any_failed(result.document)) result.exit_code = gate_failed;
  write_file(options.folder / file, read_file(step.collected));
  return result;
}

// Files in the folder of an ONNX network that it names: they hold weights of it.
std::vector<fs::path> external_data(const fs::path& network) {
  std::vector<fs::path> files;
  std::error_code code;
  if (!fs::is_regular_file(network, code)) return files;
  const std::string bytes = read_file(network);
  if (bytes.find("location") == std::string::npos) return files;
  const fs::path folder = network.parent_path();
  for (fs::recursive_directory_iterator entry(folder.empty() ? "." : folder, code), end;
       !code && entry != end; entry.increment(code)) {
    const fs::path name = entry->path().lexically_relative(folder.empty() ? "." : folder);
    if (entry->is_regular_file(code) && bytes.find(name.generic_string()) != std::string::npos)
      files.push_back(folder / name);
  }
  return files;
}

// Beside a tokenizer, what says which token fills up.
std::vector<fs::path> beside_tokenizer(const std::string& text, const fs::path& path) {
  if (text.find("tokenizer=" + path.string()) == std::string::npos) return {};
  return {path.parent_path() / "config.json", path.parent_path() / "generation_config.json"};
}

// Results say what these say of a network in their folder, or in the folder `onnx` of it.
std::vector<fs::path> beside_network(const fs::path& path) {
  if (path.extension() != ".onnx") return {};
  fs::path folder = path.parent_path();
  if (folder.filename() == "onnx") folder = folder.parent_path();
  return {folder / "config.json", folder / "generation_config.json", folder / "tokenizer.json"};
}

// Files that the text of an option names: a network with what lies next to it, a data set with its labels.
std::vector<fs::path> named_files(const std::string& text) {
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& path) {
    std::error_code code;
    if (path.empty() || std::ranges::find(files, path) != files.end()) return;
    if (fs::is_regular_file(path, code)) files.push_back(path);
    if (!fs::is_directory(path, code)) return;
    std::ranges::move(assay::files_in(path, true), std::back_inserter(files));
  };
  for (const fs::path& path : paths_in(text)) {
    add(path);
    if (path.extension() == ".onnx") std::ranges::for_each(external_data(path), add);
    std::ranges::for_each(beside_network(path), add);
    std::ranges::for_each(beside_tokenizer(text, path), add);
  }
  return files;
}

std::vector<InputFile> inputs_of(const std::vector<StepResult>& results) {
  std::vector<InputFile> inputs;
  for (const StepResult& result : results) {
    for (const auto& [name, value] : named_values(result.typed)) {
      const StepFlag* const flag = step_flag(result.typed.at(0), name);
      if (flag == nullptr || flag->files.empty()) continue;
      for (const fs::path& file : named_files(text_with_files(name, value))) {
        const auto known = std::ranges::find(inputs, file.string(), &InputFile::path);
        if (known == inputs.end())
          inputs.push_back({flag->files, file.string(), sha256_of_file(file), fs::file_size(file)});
        else if (known->role == "data")
          known->role = flag->files;
      }
    }
  }
  return inputs;
}

// To the flag of its command that names such files.
void give(Step& step, std::string_view files, const std::string& value, const GivenKeys& given) {
  for (const auto& [name, flag] : step_command(step.command).flags) {
    if (flag.files != files || value.empty()) continue;
    if (has_argument(step, name) || given.contains({step.command, name})) continue;
    step.arguments.push_back(fmt::format("--{}={}", name, value));
  }
}

}  // namespace

void complete(Study& study, const GivenKeys& given, const Subject& subject) {
  if (study.steps.empty()) {
    for (const char* command : {"evaluate", "cover", "mutate"})
      study.steps.push_back({command, command, {}, ""});
  }
  for (Step& step : study.steps) {
    if (!step.collected.empty()) continue;
    // A profile that is read is in place of training data.
    const StepFlag* const profile = step_flag(step.command, "profile");
    const bool learns = profile == nullptr || profile->written || !has_argument(step, "profile");
    give(step, "network", subject.model, given);
    if (learns) give(step, "training data", subject.train, given);
    give(step, "test data", subject.test, given);
  }
  std::vector<Step> first = first_steps(subject);
  std::erase_if(first, [&](const Step& step) {
    return std::ranges::find(study.steps, step.name, &Step::name) != study.steps.end();
  });
  study.steps.insert(study.steps.begin(), first.begin(), first.end());
  for (const Step& step : study.steps) require_file_name(step.name, "step");
}

std::unique_ptr<Journal> begin_pack(const fs::path& folder, const Study& study, bool replace) {
  const bool finished = fs::exists(folder / manifest_name), begun = fs::exists(folder / journal_name);
  if (finished && !begun && !replace)
    fail(Fault::usage, "{} holds an evidence pack; name another folder, or {}", folder.string(),
         About{"have it replaced", "replace it with {force}"});
  // A continued run keeps the results of all steps; a replaced one keeps nothing.
  const std::vector<PackFile> listed =
      finished && !begun ? read_manifest(folder).files : std::vector<PackFile>{};
  if (fs::exists(folder)) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      const std::string path = entry.path().lexically_relative(folder).generic_string();
      if (entry.is_symlink())
        fail(Fault::usage,
             "{} holds a link ({}), through which files elsewhere would be replaced; name another "
             "folder",
             folder.string(), path);
      if (entry.is_directory() || is_part_of_pack(path, study)) continue;
      if (std::ranges::find(listed, path, &PackFile::path) == listed.end())
        fail(Fault::usage,
             "{} holds other files ({}), which belong to no step of this study; name another folder",
             folder.string(), path);
    }
  }
  auto journal = std::make_unique<Journal>(folder / journal_name, JournalKey("evidence pack"));
  if (fs::exists(folder / manifest_name) != finished) {  // before the journal was locked
    Journal::remove(journal->path());
    fail(Fault::io, "{}: another run has just made this pack; name another folder", folder.string());
  }
  fs::remove(folder / signature_name);
  fs::remove(folder / manifest_name);
  for (const PackFile& file : listed) fs::remove(folder / file.path);
  make_folders(folder / results_folder);
  make_folders(folder / states_folder);
  return journal;
}

void finish_pack(std::unique_ptr<Journal> journal) { Journal::remove(journal->path()); }

PackContents gather(Study study, const GatherOptions& options, Progress& progress) {
  PackContents contents;
  Stage stage(progress, "gathering evidence", study.steps.size(), "steps");
  for (const Step& step : study.steps) {
    contents.results.push_back(step.collected.empty() ? run_step(step, options)
                                                      : collect_step(step, options));
    stage.advance(1, step.name);
  }
  require_networks_of_study(contents.results);
  if (!options.config.empty()) write_file(options.folder / "study.toml", read_file(options.config));
  contents.study = std::move(study);
  contents.inputs = inputs_of(contents.results);
  contents.machine = {{"operating system", operating_system()},
                      {"processor", processor_name()},
                      {"cores", std::to_string(std::thread::hardware_concurrency())}};
  contents.created = utc_now();
  return contents;
}

}  // namespace assay::evidence
