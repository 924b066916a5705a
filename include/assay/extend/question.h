#pragma once

// The program's commands for other programs: the same questions with the same flags, defaults, messages and
// result documents, with networks and data sets in memory where the command line names files.
//
//   Question question{"cover", {{"model", {"@net"}}, {"train", {"train.npz"}}, {"test", {"@new[:100]"}}}};
//   question.networks.emplace("net", graph);
//   question.datasets.emplace("new", from_tensors(x, y));
//   const report::Document found = ask(question, silence());
//
// Its functions are in a separate library: link the CMake target assay::questions, which brings assay::assay.

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <assay/dataset.h>
#include <assay/graph.h>
#include <assay/progress.h>
#include <assay/report.h>

namespace assay::frame {

// One flag of a command as --help shows it.
struct QuestionFlag {
  std::string name;        // "count-layer"; of what stands without dashes: "states"
  std::string summary;     // one line
  std::string type;        // what a value is: "UINT", "FLOAT", "SPEC", "FILE.npz"; empty for a switch
  std::string fallback;    // when it is not given; empty: nothing, or told in the summary
  std::string files = {};  // what those are that it names: "network", "document"; empty: not told
  std::vector<std::string> words = {};  // the only values there are; empty: any
  // What callers read back of a file that the command writes there: "network", "networks" or "records"
  // (folders), "ids", "predictions", "state"; empty: nothing.
  std::string product = {};
  std::string place = {};  // of that file in Question::folder; empty: it is not placed there
  bool is_switch = false;  // takes no value
  bool repeats = false;    // takes several values
  bool common = false;     // every command has it
  bool leads = false;      // comes first in calls of functions, without its name
};

struct QuestionCommand {
  std::string name, summary, examples;
  std::vector<QuestionFlag> flags;
  bool runs_program = false;  // runs other commands of the program, so it is about files
};

// All commands in the order of --help. Flags that only concern a terminal, its files and its plug-ins
// (--json,
// --html, --config, --plugin, --quiet) are left out.
std::vector<QuestionCommand> question_commands();

struct Question {
  std::string command;
  // Values by names of flags; none, or "true", for a switch.
  std::vector<std::pair<std::string, std::vector<std::string>>> flags;
  // What "@NAME" means in them.
  std::map<std::string, Graph> networks = {};
  std::map<std::string, DatasetPtr> datasets = {};
  // Where outputs go that are not named and that commands write anyway or callers read back
  // (QuestionFlag::place). Empty: where the program writes them.
  std::filesystem::path folder = {};
  // Of networks of language: where config.json and tokenizer.json are, by the name of the network.
  std::map<std::string, std::string> network_folders = {};
};

// What the command answers, with all detail that --json and --html get. Throws Error as the program exits:
// of the same kinds, and its message() says with flags what the program says. Not thread-safe: one question
// at a time.
report::Document ask(const Question& question, Progress& progress);

// The program `assay` that `evidence` and `verify` run, for callers that are another program.
void set_program(const std::filesystem::path& file);

// Version of Assay (first), and of the libraries that results rest on.
std::vector<std::pair<std::string, std::string>> component_versions();

}  // namespace assay::frame
