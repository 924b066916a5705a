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

// What a person decided about the subject of the study.
struct Approval {
  std::string name, role, date;         // "2026-11-29"
  std::string decision, note;           // one of approval_decisions()
  std::string identity = {}, key = {};  // by which a signature is theirs: "ada@example.org", "SHA256:..."
};

struct Study {
  std::string title;
  std::vector<Requirement> requirements;
  std::vector<Step> steps;
  std::vector<std::string> not_done;  // what the study leaves open, in the words of who made it
  std::vector<Approval> approvals = {};
  std::string document_id = {};  // empty: made of what the pack holds
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
  std::string step, file;                  // whose figure decided; empty: not measured
  std::vector<report::Gate> members = {};  // of each figure that the gate asks for, the worst first
};

}  // namespace assay::evidence
