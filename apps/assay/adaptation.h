#pragma once

// --fix NAME=NUMBER, --decision NAME, --precision TYPE, --straight-through: changes of a network before it
// runs; and --view SPEC.

#include "apps/assay/command.h"
#include "assay/engine/preparation/adaptation.h"

namespace assay::app {

class Adaptation {
 public:
  void declare(Flags& flags);
  // Of commands that look at layers.
  const CLI::Option* declare_views(Flags& flags);
  bool given() const;
  // Throws Error{usage} for a precision that does not exist.
  AdaptOptions options() const;

 private:
  AdaptOptions options_;
  std::string precision_ = "float32";
  std::vector<std::string> fixed_;
};

}  // namespace assay::app
