#pragma once

// A subcommand of the program: it declares flags, calls the library and returns a result document. The frame
// does the rest: configuration file, progress, console and JSON rendering, exit codes.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <assay/progress.h>
#include <assay/report.h>
#include "apps/frame/config.h"
#include "apps/frame/flags.h"
#include "apps/frame/outputs.h"
#include "apps/frame/recorded_options.h"

namespace assay::frame {

// Flags that every subcommand has.
struct Settings {
  std::string json;                               // result document as a file, "-" for standard output
  std::map<std::string, std::string> renderings;  // file by name of renderer
  std::string config;                             // assay.toml
  bool config_is_found = false;                   // in the current folder: neither named nor trusted
  bool trust = false;                             // that one may run code and write elsewhere
  std::vector<std::string> plugins;  // files loaded in addition to the catalogues' built-in entries
  std::string format = "text";       // of standard output: text, json, csv, markdown
  bool quiet = false, verbose = false, force = false, strict = false;
  std::uint64_t seed = 1;
  int threads = 0;        // 0: all
  std::size_t batch = 0;  // 0: chosen by the engine
  std::string device = "cpu";
  std::string engine = "auto";
  double memory_gib = 0;  // limit for readers and for one tensor, 0: half of the machine's memory
  bool prints_json() const { return json == "-" || format == "json"; }
  // Whether all details are wanted, such as single records.
  bool detailed() const {
    return verbose || prints_json() || !json.empty() || !renderings.at("html").empty();
  }
  std::uint64_t memory_limit() const { return static_cast<std::uint64_t>(memory_gib * 1024 * 1024 * 1024); }
};

struct Context {
  const Settings& settings;
  Progress& progress;
  // Values in effect that are not on the command line: those that a command found itself.
  EffectiveOptions effective = {};
  // Provenance of opened files, before that of the result.
  std::vector<report::Warning> warnings = {};
};

class Command {
 public:
  virtual ~Command() = default;
  // Adds the subcommand's own flags. None is required here: a value may come from assay.toml, so run()
  // checks.
  virtual void declare(Flags& flags) = 0;
  void declare_on(CLI::App& app) {
    Flags flags(app, "", &declared_);
    declare(flags);
  }
  // Called when the command line has been parsed, and nothing else: to sort positions.
  virtual void typed() {}
  // Which options have their values from a configuration file, before anything else is asked.
  virtual void configured(const Configured&, const Settings&) {}
  // What run() will write in addition to the renderings, as Flags::add_output() declares it; tried before it
  // is called.
  std::vector<Output> outputs() const { return outputs_of(declared_.written); }
  // What it has said in declaring its flags.
  const Declared& declared() const { return declared_; }
  // Files that run() will read and that no flag names.
  virtual std::vector<NamedPath> inputs(const Settings&) const { return {}; }
  // Whether an assay.toml that was found in the current folder may name plug-ins. Not for commands that
  // people run on files of others.
  virtual bool plugins_of_folder() const { return true; }
  // Whether several ranks can work on it together (ranks.h). If so, run() calls leave_to_first() before it
  // writes anything that no journal is, and not before all shared loops.
  virtual bool shared() const { return false; }
  // Whether it runs other commands of the program. They find their inputs in files.
  virtual bool runs_program() const { return false; }
  // Throws Error for everything a user can get wrong.
  virtual report::Document run(Context& context) = 0;
  // The result as text for standard output, where people expect another form than tables; empty: tables.
  virtual std::string printed(const report::Document&) const { return {}; }
  // Whether result_written() goes on until somebody interrupts it, so that no change of a file can be waited
  // for.
  virtual bool stays() const { return false; }
  // Called when the result of run() stands in all files that were requested, or is the caller's.
  virtual void result_written() {}

 private:
  Declared declared_;
};

// Commands that stand together in the list of all.
struct Group {
  std::string_view title;
  bool one_line = false;  // their names alone, where the title says what they are
};

struct CommandInfo {
  std::string_view name;
  std::string_view summary;   // one line, lower case
  std::string_view examples;  // lines shown below the flags in --help
  std::unique_ptr<Command> (*make)();
  Group group = {};
  bool measures = false;  // and does nothing else, so that it may run to check the result of another person
};

template <typename T>
std::unique_ptr<Command> make_command() {
  return std::make_unique<T>();
}

}  // namespace assay::frame
