#include "apps/frame/help.h"

namespace assay::frame {
namespace {

class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    whole_ = mode == CLI::AppFormatMode::All;
    return CLI::Formatter::make_help(app, std::move(name), mode);
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    if (whole_ || (group != common_group && group != outputs_group))
      return CLI::Formatter::make_group(group, is_positional, options);
    std::string names;
    for (const CLI::Option* option : options) {
      if (!option->get_lnames().empty()) names += " --" + option->get_lnames()[0];
    }
    return "\n" + group + " (--help-all explains them):" + names + "\n";
  }

 private:
  mutable bool whole_ = false;  // of the page that is being made
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> make_help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace assay::frame
