#include "apps/frame/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iterator>

#include <assay/error.h>
#include <assay/extend/spec.h>
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::frame {
namespace {

constexpr std::array<const char*, 10> names_of_files{"",          "network", "other network", "training data",
                                                     "test data", "data",    "profile",       "state",
                                                     "document",  "input"};
// As marks they differ from those of files.
constexpr std::array<const char*, 7> names_of_products{
    "", "makes network", "makes networks", "makes records", "makes ids", "makes predictions", "makes state"};
constexpr std::string_view makes = "makes ";

}  // namespace

std::pair<std::string, std::string> Flags::parts_of_names(const std::string& names) {
  const std::size_t blank = names.find(' ');
  if (blank == std::string::npos) return {names, ""};
  return {names.substr(0, blank), names.substr(blank + 1)};
}

CLI::Option* Flags::add(const std::string& names, std::vector<std::string>& value,
                        const std::string& help) const {
  const auto [name, type] = parts_of_names(names);
  return placed(app_.add_option(name, value, help)->default_str(joined(value, " ")), type);
}

CLI::Option* Flags::add_list(const std::string& names, std::vector<std::string>& value,
                             const std::string& help) const {
  const auto [name, type] = parts_of_names(names);
  const std::function<void(const std::vector<std::string>&)> take =
      [&value](const std::vector<std::string>& texts) {
        value.clear();
        for (const std::string& text : texts) std::ranges::move(split_specs(text), std::back_inserter(value));
      };
  return marked(placed(app_.add_option_function(name, take, help)->default_str(joined(value, " ")), type),
                list_mark);
}

CLI::Option* Flags::add_list(const std::string& names, std::string& value, const std::string& help) const {
  CLI::Option* const option = add(names, value, help);
  option->join(',');
  return option;
}

CLI::Option* Flags::add_output(const std::string& names, std::string& value, const std::string& help,
                               Written written) const {
  CLI::Option* const option = marked(add(names, value, help), written_mark);
  if (written.product != Product::none)
    marked(option, names_of_products[static_cast<std::size_t>(written.product)]);
  const bool is_folder = option->get_type_name().starts_with("FOLDER");
  if (declared_ != nullptr)
    declared_->written.push_back({flag_of(*option), is_folder, &value, std::move(written)});
  return option;
}

void Flags::take(std::initializer_list<Shared> shared) const {
  if (declared_ != nullptr) declared_->taken.insert(shared);
}

CLI::Option* Flags::placed(CLI::Option* option, const std::string& type) const {
  if (!type.empty()) option->type_name(type);
  if (!group_.empty()) option->group(group_);
  for (const char* mark : marks_) marked(option, mark);
  return option;
}

// A check that takes everything: what is known of an option apart from its values.
CLI::Option* Flags::marked(CLI::Option* option, const char* mark) {
  return option->check(CLI::Validator([](std::string&) { return std::string(); }, "", mark));
}

bool Flags::has_mark(const CLI::Option& option, const char* mark) {
  try {
    for (int i = 0;; ++i) {
      if (const_cast<CLI::Option&>(option).get_validator(i)->get_name() == mark) return true;
    }
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

bool is_written(const CLI::Option& option) { return Flags::has_mark(option, Flags::written_mark); }
bool is_list(const CLI::Option& option) { return Flags::has_mark(option, Flags::list_mark); }
bool runs_code(const CLI::Option& option) { return Flags::has_mark(option, Flags::code_mark); }

Flags Flags::in_group(std::string group) const {
  Flags flags = *this;
  flags.group_ = std::move(group);
  return flags;
}

Flags Flags::with_mark(const char* mark) const {
  Flags flags = *this;
  flags.marks_.push_back(mark);
  return flags;
}
bool acts(const CLI::Option& option) { return runs_code(option) || Flags::has_mark(option, Flags::act_mark); }
bool is_of_the_run(const CLI::Option& option) { return Flags::has_mark(option, Flags::run_mark); }
bool is_of_the_program(const CLI::Option& option) { return Flags::has_mark(option, Flags::program_mark); }
void mark_as_of_the_program(CLI::Option& option) { Flags::marked(&option, Flags::program_mark); }

bool leads(const CLI::Option& option) {
  if (Flags::has_mark(option, Flags::keyword_mark)) return false;
  return option.get_positional() || Flags::has_mark(option, Flags::lead_mark);
}

std::string_view to_string(Product product) {
  const std::string_view name = names_of_products[static_cast<std::size_t>(product)];
  return name.substr(std::min(makes.size(), name.size()));
}

Product product_of(const CLI::Option& option) {
  for (std::size_t i = 1; i < names_of_products.size(); ++i) {
    if (Flags::has_mark(option, names_of_products[i])) return static_cast<Product>(i);
  }
  return is_written(option) && files_of(option) == Concept::state ? Product::state : Product::none;
}

std::string_view to_string(Concept files) { return names_of_files[static_cast<std::size_t>(files)]; }

Concept files_of(const CLI::Option& option) {
  for (std::size_t i = 1; i < names_of_files.size(); ++i) {
    if (Flags::has_mark(option, names_of_files[i])) return static_cast<Concept>(i);
  }
  return Concept::none;
}

std::vector<const CLI::Option*> Flags::named(std::initializer_list<const char*> names) const {
  std::vector<const CLI::Option*> options;
  for (const char* name : names) options.push_back(app_.get_option(name));
  return options;
}

std::vector<const CLI::Option*> Flags::all(std::size_t skipped) const {
  std::vector<const CLI::Option*> options = std::as_const(app_).get_options();
  options.erase(options.begin(), options.begin() + skipped);
  return options;
}

std::vector<Output> outputs_of(const std::vector<WrittenFlag>& flags) {
  std::vector<Output> all;
  for (const auto& [flag, is_folder, value, written] : flags) {
    if (written.when && !written.when()) continue;
    if (written.instead) {
      std::ranges::move(written.instead(), std::back_inserter(all));
      continue;
    }
    all.push_back({flag, *value, is_folder ? Output::Kind::folder : Output::Kind::file, written.members,
                   written.goes_on && written.goes_on()});
    if (written.journal != nullptr && !value->empty())
      all.push_back({"the journal of " + flag, written.journal(*value).string(), Output::Kind::journal});
  }
  return all;
}

std::filesystem::path journal_beside(const std::filesystem::path& file) { return file.string() + ".journal"; }

std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : option.get_lnames().front();
}

std::string flag_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

bool is_switch(const CLI::Option& option) { return option.get_expected_max() == 0; }

std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  return names;
}

std::string fallback_of(const CLI::Option& option) {
  const std::string text = option.get_default_str();
  return text == "[]" || text == "{}" ? "" : text;
}

std::string message_of(const CLI::Error& error) {
  const std::string text = error.what();
  const std::size_t range = text.find(" not in range "),
                    bound = text.find(" to ", std::min(range, text.size()));
  const bool open = bound != std::string::npos && text.size() - bound > 300;
  if (!open) return text;
  // A 0 is refused where only more will do.
  constexpr std::string_view name = "Value ";
  const std::size_t value = text.rfind(name, range);
  const bool zero =
      value != std::string::npos && std::strtod(text.c_str() + value + name.size(), nullptr) == 0;
  return fmt::format("{} is not a number {}", text.substr(0, range), zero ? "above 0" : "from 0 on");
}

std::string no_number(const std::string& text, bool whole, bool negative_too) {
  const std::string digits = text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
  if (whole && !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos)
    return text.starts_with('-') && !negative_too ? fmt::format("'{}' is less than 0", text)
                                                  : fmt::format("'{}' is a number that is too large", text);
  if (whole) return fmt::format("'{}' is not a whole number in decimal digits", text);
  return fmt::format("'{}' is not a number such as 0.5 or 1e-3", text);
}

namespace {

bool is_typed(const CLI::Option& option) { return option.count() > 0 && !is_default(option); }

bool may_stand_bare(const CLI::Option* option) { return option->get_positional(); }

// "--model is net.onnx": what is known of positions.
std::string taken_positions(const CLI::App& app) {
  std::vector<std::string> taken;
  for (const CLI::Option* option : app.get_options(may_stand_bare)) {
    if (option->count() > 0) taken.push_back(fmt::format("{} is {}", flag_of(*option), option->results()[0]));
  }
  return joined(taken);
}

}  // namespace

std::string clash_of(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (is_switch(*option) || option->count() <= static_cast<std::size_t>(option->get_expected_max()) ||
        option->get_multi_option_policy() != CLI::MultiOptionPolicy::Throw)
      continue;
    const std::string flag = flag_of(*option),
                      way = may_stand_bare(option) ? ", with the flag or without it" : "";
    return fmt::format("{} is given twice, {} and {}; give it once{}", flag, option->results()[0],
                       option->results()[1], way);
  }
  const std::vector<std::string> left = app.remaining();
  const std::string taken = taken_positions(app);
  if (left.empty() || left[0].starts_with('-') || taken.empty()) return {};
  return fmt::format("{} is one too many: {}; leave one out", left[0], taken);
}

void move_typed(CLI::Option& first, CLI::Option& second) {
  for (const std::string& text : first.results()) second.add_result(text);
  second.run_callback();
  first.clear();
}

std::vector<std::string> words_of(const CLI::Option& option) {
  // "TEXT:{mean,max}", as against "UINT:INT in [1 - 200]".
  const std::string whole = option.get_type_name();
  const std::size_t begin = whole.find(":{");
  if (begin == std::string::npos) return {};
  return parts_of(whole.substr(begin + 2, whole.find('}', begin) - begin - 2), ",");
}

void give_values(CLI::Option& option, std::vector<std::string> values, const std::string& place) {
  if (is_switch(option) && values == std::vector<std::string>{"false"}) return;
  if (is_switch(option) && values != std::vector<std::string>{"true"})
    fail(Fault::usage, "{}: '{}' is a switch: true or false", place, flag_of(option));
  // A list for a flag that takes one text is joined as it would be typed: m = [6, 8] is -m 6,8.
  if (option.get_expected_max() == 1 && values.size() > 1) values = {joined(values, ",")};
  try {
    for (const std::string& value : values) option.add_result(value);
    option.run_callback();
  } catch (const CLI::Error& error) {
    fail(Fault::usage, "{}: {}", place, message_of(error));
  }
}

void mark_as_default(CLI::Option& option) { Flags::marked(&option, Flags::default_mark); }
bool is_default(const CLI::Option& option) { return Flags::has_mark(option, Flags::default_mark); }

void mark_as_idle(CLI::Option& option) { Flags::marked(option.group(""), Flags::idle_mark); }
bool is_idle(const CLI::Option& option) { return Flags::has_mark(option, Flags::idle_mark); }

Message named(const CLI::Option& option) {
  const std::string name = flag_of(option);
  return name.starts_with("--") ? Message(About{name, "{" + name_of(option) + "}"}) : Message(name);
}

void refuse_without_effect(const std::vector<const CLI::Option*>& options, const Message& why) {
  std::vector<const CLI::Option*> changed;
  std::ranges::copy_if(options, std::back_inserter(changed), [](const CLI::Option* option) {
    return option->results() != std::vector{option->get_default_str()};
  });
  refuse_given(changed, why);
}

void refuse_given(const std::vector<const CLI::Option*>& options, const Message& why) {
  const auto typed =
      std::ranges::find_if(options, [](const CLI::Option* option) { return is_typed(*option); });
  if (typed != options.end()) fail(Fault::usage, "{} has no effect {}; leave it out", named(**typed), why);
}

}  // namespace assay::frame
