#pragma once

// What a run will write, tried before its work begins: an output that cannot be written is found out at
// once, not after hours, and nothing that the run reads is overwritten.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

struct Output {
  enum class Kind { file, folder, journal };
  std::string name;  // for messages: "--state"
  std::string path;  // empty: not asked for
  Kind kind = Kind::file;
  bool goes_on = false;  // it may also be read, and is then replaced: states to add to, checkpoints
};

// A file that a run may read, whether or not it is there, and what names it.
using NamedPath = std::pair<std::filesystem::path, std::string>;

// Throws Error{io} for what cannot be written or has no folder to go into, Error{usage} for two outputs in
// one place and for an output in the place of an input, Error{data} for a foreign file where a journal goes.
void check_outputs(const std::vector<Output>& outputs, const std::vector<NamedPath>& inputs);

// What took long to make is not replaced by accident: throws Error{mismatch} where `path` is a file that
// holds something, and `belongs` throws or says no.
void check_replaced(const std::filesystem::path& path, std::string_view what,
                    const std::function<bool()>& belongs);

}  // namespace assay
