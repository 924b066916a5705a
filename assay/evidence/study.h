#pragma once

// The parts of an evidence pack: requirements, steps and their results.

#include <string>
#include <vector>

#include <assay/report.h>

namespace assay::evidence {

// A requirement holds if all its gates do.
struct Requirement {
  std::string id, text;
  std::vector<std::string> gates;  // "kmnc[layer=*]=0.5"
  std::string step;  // whose figures are asked; empty: the first step that has them, for warnings all
};

// A command of the program, or a result that is there already.
struct Step {
  std::string name, command;           // "coverage", "cover"
  std::vector<std::string> arguments;  // as typed after the command
  std::string collected;               // file of a result document; empty: run
};

struct Study {
  std::string title;
  std::vector<Requirement> requirements;
  std::vector<Step> steps;
  std::vector<std::string> not_done;  // what the study leaves open, in the words of who made it
};

// A step that has ended.
struct StepResult {
  Step step;
  report::Document document;
  int exit_code = 0;               // of a result that is collected: 2 where a gate of it failed
  std::vector<std::string> typed;  // command and options in effect, without those that say where outputs go
  std::string file;                // its result document in the pack
};

// A file that steps read.
struct InputFile {
  std::string role, path;  // "network"; as it was named
  std::string sha256;
  std::uint64_t bytes = 0;
};

// Result of a requirement.
struct Outcome {
  std::size_t requirement = 0;
  report::Gate gate;
  std::string step, file;  // whose figure decided; empty: not measured
};

}  // namespace assay::evidence
