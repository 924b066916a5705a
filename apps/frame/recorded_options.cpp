#include "apps/frame/recorded_options.h"

#include <filesystem>

#include <assay/extend/spec.h>
#include "apps/frame/flags.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/shell.h"

namespace assay::frame {
namespace {

// A default may stand for "not at all", which cannot be typed.
bool can_be_given(const CLI::Option& option, std::string value) {
  try {
    for (int i = 0;; ++i) {
      if (!(*const_cast<CLI::Option&>(option).get_validator(i))(value).empty()) return false;
    }
  } catch (const CLI::OptionNotFound&) {
    return true;
  }
}

// Each as one part of a list.
std::vector<std::string> quoted(std::vector<std::string> names) {
  for (std::string& name : names) name = quoted_spec(name);
  return names;
}

std::vector<std::string> recorded_values(const CLI::Option& option, const EffectiveOptions& effective) {
  const auto found = effective.find(name_of(option));
  if (found != effective.end()) return is_list(option) ? quoted(found->second) : found->second;
  if (option.count() > 0) return is_switch(option) ? std::vector<std::string>{"true"} : option.results();
  const std::string fallback = fallback_of(option);
  const bool none =
      fallback.empty() || fallback.starts_with('[') || is_switch(option) || !can_be_given(option, fallback);
  if (none) return {};
  // Several values, as the library that reads options shows them.
  return option.get_expected_max() > 1 ? parts_of(fallback, " ") : std::vector<std::string>{fallback};
}

std::string typed_option(const CLI::Option& option, const std::string& value) {
  const bool positional = option.get_lnames().empty();
  if (positional) return shell_word(value);
  const std::string flag = flag_of(option);
  if (is_switch(option)) return value == "true" ? flag : "";
  return flag + (value.starts_with('-') ? "=" : " ") + shell_word(value);
}

}  // namespace

bool is_unused(const report::Document& document, const CLI::App& command, const std::string& rendering) {
  const CLI::Option* const option = command.get_option_no_throw("--" + rendering);
  return option != nullptr && is_default(*option) && !report::renderers().find(rendering).tells_of(document);
}

void leave_out(const std::vector<const CLI::Option*>& options, EffectiveOptions& effective) {
  for (const CLI::Option* option : options) effective[name_of(*option)] = {};
}

std::string recorded_options(const CLI::App& command, const EffectiveOptions& effective) {
  std::string positions, flags;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty() || option == command.get_help_ptr() ||
        option == command.get_help_all_ptr())
      continue;
    std::string& text = option->get_lnames().empty() ? positions : flags;
    for (const std::string& value : recorded_values(*option, effective)) {
      const std::string typed = typed_option(*option, value);
      if (!typed.empty()) text += (text.empty() ? "" : " ") + typed;
    }
  }
  // Positions first: after a flag that takes several values they would be taken for one.
  return positions + (positions.empty() || flags.empty() ? "" : " ") + flags;
}

std::string file_of_option(const CLI::App& command, const std::string& name) {
  const CLI::Option* option = command.get_option_no_throw("--" + name);
  if (option == nullptr || option->count() == 0) return {};
  const std::string text = option->results()[0];
  std::error_code code;
  if (std::filesystem::exists(text, code)) return text;
  const std::string first = joined_specs(text)[0];
  std::string_view rest = first;
  return take_part(rest, ",[").value_or(text);
}

}  // namespace assay::frame
