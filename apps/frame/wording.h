#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include <assay/report.h>
#include "apps/frame/program.h"

namespace assay::frame {

// Puts the program's flags into messages of the library, which name concepts. Names stay as they are: values
// of the command's options, their parts, and whatever a message quotes, even where they hold the words of a
// concept.
class Wording {
 public:
  // `command` has its values.
  Wording(const Program& program, const CLI::App& command);

  std::string operator()(std::string message) const;
  // Headline, notices and warnings.
  void reword(report::Document& document) const;

 private:
  const Program& program_;
  std::vector<std::string> names_;  // those with a blank, as every concept has one; longer ones first
};

}  // namespace assay::frame
