#include "apps/frame/help.h"

#include <fmt/format.h>

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

  // A line each, so that the list fits a screen: what else a command says is in its own help.
  std::string make_subcommand(const CLI::App* sub) const override {
    const std::string& text = sub->get_description();
    return fmt::format("  {:<12} {}\n", sub->get_name(), text.substr(0, text.find('\n')));
  }

 private:
  mutable bool whole_ = false;  // of the page that is being made
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> make_help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace assay::frame
