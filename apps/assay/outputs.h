#pragma once

// What a run will write, tried before its work begins: an output that cannot be written is found out at
// once, not after hours, and nothing that the run reads is overwritten.

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace assay::app {

struct Settings;

struct Output {
  enum class Kind { file, folder, journal };
  std::string flag;  // for messages: "--state"
  std::string path;  // empty: not asked for
  Kind kind = Kind::file;
  bool goes_on = false;  // it may also be read, and is then replaced: states to add to, checkpoints
};

// Throws Error{io} for what cannot be written, Error{usage} for two outputs in one place and for an output in
// the place of something that `command`'s other options name, Error{data} for a foreign file where a journal
// goes.
void check_outputs(const std::vector<Output>& outputs, const CLI::App& command, const Settings& settings);

// A state or profile that took long to make is not replaced by accident: throws Error{mismatch} where `path`
// holds something and `belongs` throws or says no, unless --force is given.
void check_replaced(const std::string& path, std::string_view what, const Settings& settings,
                    const std::function<bool()>& belongs);

// The same for the result document that --json will write: one of another network stays.
void check_result_replaced(const std::string& model_hash, const Settings& settings);

}  // namespace assay::app
