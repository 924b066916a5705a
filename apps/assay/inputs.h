#pragma once

// Flags that several subcommands share, and how they become library objects.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <assay/adapt.h>
#include <assay/dataset.h>
#include <assay/session.h>
#include "apps/assay/adaptation.h"
#include "apps/assay/command.h"
#include "assay/answers/accuracy.h"
#include "assay/answers/networks/network.h"
#include "assay/answers/setting.h"

namespace assay::app {

// --model FILE [--input-shape 3x32x32] and what Adaptation declares
class ModelInput {
 public:
  // `positional`: may also stand without its flag.
  void declare(Flags& flags, bool positional = false);
  // Of commands that look at layers.
  void declare_views(Flags& flags) { views_ = adaptation_.declare_views(flags); }
  const CLI::Option* views() const { return views_; }
  // add_task(), of a task that may also say where class 1 begins.
  const CLI::Option* declare_task(Flags& flags, std::string& task);
  // Where layers are named and none of them is a view.
  void refuse_idle_views(const Session& session, const std::vector<std::string>& layers) const;
  // Reads the network and prepares it; `dataset` (may be null) tells the record shape of dynamic inputs.
  Session open(Context& context, const Dataset* dataset = nullptr);
  // The form of the network in its file: for in_form_of_file() of the opened network, or an edit of it.
  const FileForm& form() const { return form_; }
  const std::string& path() const { return path_; }
  // For further networks that are read as this one.
  answers::ReadingOptions reading() const { return {adapt_options(), input_shape_}; }

 private:
  AdaptOptions adapt_options() const;

  std::string path_, input_shape_;
  FileForm form_;
  Adaptation adaptation_;
  const CLI::Option* views_ = nullptr;
  const std::string* task_ = nullptr;
};

// --FLAG SPEC
class DataInput {
 public:
  DataInput(std::string flag, std::string help, Concept files = Concept::data)
      : flag_(std::move(flag)), help_(std::move(help)), files_(files) {}
  // `positional`: may also stand without its flag.
  CLI::Option* declare(const Flags& flags, bool positional = false);
  bool given() const { return !spec_.empty(); }
  const std::string& spec() const { return spec_; }
  const CLI::Option* option() const { return option_; }
  // Throws Error{usage} when the flag was not given.
  DatasetPtr open() const;
  // Null then.
  DatasetPtr open_if_given() const { return given() ? open() : nullptr; }

 private:
  std::string flag_, help_, spec_;
  Concept files_;
  const CLI::Option* option_ = nullptr;
};

// --expect-accuracy A [--tolerance T] [--tolerance-above T]: the check before every analysis.
class AccuracyCheck {
 public:
  void declare(Flags& flags);
  // Throws Error{usage} for a tolerance of no accuracy.
  answers::DeclaredAccuracy declared() const;

 private:
  double expected_ = -1, tolerance_ = 0.005, above_ = 1;
  std::vector<const CLI::Option*> tolerances_;
};

// --task SPEC: what the output means.
const CLI::Option* add_task(Flags& flags, std::string& task);

// --pairs N: of characteristics, in the result.
const CLI::Option* add_pairs(Flags& flags, std::optional<std::size_t>& pairs);

// Settings of a whole run from the common flags.
answers::Setting setting_of(const Context& context);

// Records that change each other's results run one at a time, unless the user says otherwise.
void run_alone(Context& context);
// The same where a command that opens networks by itself found them.
report::Document told_alone(report::Document document, Context& context);

// --shard K/N: a part of the work.
class ShardInput {
 public:
  explicit ShardInput(std::string help) : help_(std::move(help)) {}
  void declare(Flags& flags) { flags.add("--shard K/N", text_, help_); }
  const std::string& text() const { return text_; }
  // Part and number of parts; 1 of 1 without the flag. The part that "auto" chose is recorded.
  std::pair<std::size_t, std::size_t> part(Context& context) const;

 private:
  std::string help_, text_;
};

}  // namespace assay::app
