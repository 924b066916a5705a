#include "apps/assay/adaptation.h"

#include <assay/error.h>
#include "assay/support/text/parse.h"

namespace assay::app {

void Adaptation::declare(Flags& flags) {
  flags
      .add_list("--fix NAME=NUMBER,...", fixed_,
                "an input that has this value for all records, such as a sampling rate; may be repeated")
      ->allow_extra_args(false);
  flags.add("--decision NAME", options_.decision,
            "output that decides, by name or number from 0, where the network has several (default: the "
            "first one of floating-point numbers); boxes+scores: these together, as tasks read them; of a "
            "language model position=last,answers=Yes+No: the scores of these tokens at that position");
  flags.add("--precision TYPE", precision_,
            "float16 or bfloat16: rounds weights and results of every node to it and reports the difference "
            "from float32");
  flags.add("--straight-through", options_.straight_through,
            "gradients and relevance pass straight through Sign, Round, Floor and Ceil");
}

const CLI::Option* Adaptation::declare_views(Flags& flags) {
  return flags.naming(Concept::input)
      .add("--view SPEC", options_.views,
           "other units, as a layer that is looked at unless layers are named: heads=norm: heads of "
           "attention; attention=variance: their weights; directions=FILE.npz or tokens=last of layer=NAME; "
           "may be repeated")
      ->allow_extra_args(false);
}

bool Adaptation::given() const {
  return !fixed_.empty() || !options_.decision.empty() || precision_ != "float32" ||
         options_.straight_through;
}

AdaptOptions Adaptation::options() const {
  AdaptOptions options = options_;
  for (const std::string& text : fixed_) {
    const std::size_t equals = std::min(text.rfind('='), text.size());
    const auto number = number_of<double>(std::string_view(text).substr(std::min(equals + 1, text.size())));
    if (!number) refuse("--fix {}: NAME=NUMBER is needed, such as sr=16000", text);
    options.fixed.emplace_back(text.substr(0, equals), *number);
  }
  options.precision = parse_precision(precision_);
  return options;
}

}  // namespace assay::app
