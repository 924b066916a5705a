#include "apps/assay/config.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <set>

#include <assay/error.h>
#include "apps/assay/frame.h"
#include "apps/assay/words.h"
#include "assay/support/file.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

std::string place(const std::filesystem::path& file, const toml::node& node) {
  return fmt::format("{}:{}", file.string(), node.source().begin.line);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
    for (const std::string& name : option->get_snames()) names.push_back(name);
  }
  return names;
}

// By its long or its one-letter name; null when there is none.
CLI::Option* find_option(CLI::App& app, const std::string& name) {
  return app.get_option_no_throw((name.size() == 1 ? "-" : "--") + name);
}

std::string scalar(const std::filesystem::path& file, const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto truth = node.value_exact<bool>()) return *truth ? "true" : "false";
  if (const auto integer = node.value_exact<std::int64_t>()) return std::to_string(*integer);
  if (const auto real = node.value_exact<double>()) return fmt::format("{}", *real);
  fail(Fault::usage, "{}: a text, number, truth value or list of them is needed", place(file, node));
}

std::vector<std::string> values_of(const std::filesystem::path& file, const toml::node& node) {
  if (const toml::array* list = node.as_array()) {
    std::vector<std::string> values;
    for (const toml::node& item : *list) values.push_back(scalar(file, item));
    return values;
  }
  return {scalar(file, node)};
}

using Seen = std::set<const CLI::Option*>;

// Options of `command` named by the keys of `table`; returns keys that are not options of it.
std::vector<std::string> apply_table(const std::filesystem::path& file, const toml::table& table,
                                     CLI::App& command, const Seen& given, Seen& done) {
  std::vector<std::string> unknown;
  for (const auto& [key, node] : table) {
    if (node.is_table() || node.is_array_of_tables()) continue;
    const std::string name = new_word(command.get_name(), key.str()).value_or(std::string(key.str()));
    CLI::Option* option = find_option(command, name);
    if (option == nullptr) {
      unknown.emplace_back(key.str());
    } else if (!given.contains(option) && done.insert(option).second) {
      give_values(*option, values_of(file, node), place(file, node));
    }
  }
  return unknown;
}

}  // namespace

std::string read_config(const std::filesystem::path& file) {
  constexpr std::size_t most_parts = 32;
  std::string text = read_file(file, 1 << 24);
  std::size_t dots = 0, line = 1;
  char within = '\n';  // a quote or a comment that has begun; a line end: none
  for (const char c : text) {
    if (c == '\n') ++line;
    if (c == '\n' || c == within) {
      within = '\n';
    } else if (within == '\n' && std::string_view("\"'#").find(c) != std::string_view::npos) {
      within = c == '#' ? '\0' : c;
    }
    if (within != '\n') continue;
    if (std::string_view("=,{}[]\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '.' && ++dots > most_parts)
      fail(Fault::usage, "{}:{}: a name of more than {} parts", file.string(), line, most_parts);
  }
  return text;
}

void apply_config(const std::filesystem::path& file, CLI::App& root, CLI::App& command) {
  toml::table table;
  try {
    table = toml::parse(read_config(file), file.string());
  } catch (const toml::parse_error& error) {
    fail(Fault::usage, "{}:{}: {}", file.string(), error.source().begin.line, error.description());
  }
  Seen given, done;
  for (CLI::Option* option : command.get_options()) {
    if (option->count() > 0) given.insert(option);
  }
  std::vector<std::string> command_names, all_options;
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; })) {
    command_names.push_back(sub->get_name());
    for (std::string& name : option_names(*sub)) all_options.push_back(std::move(name));
  }
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const bool known_table =
        std::find(command_names.begin(), command_names.end(), name) != command_names.end();
    if (node.is_table() && !known_table) {
      fail(Fault::usage, "{}: no subcommand is named '{}'{}", place(file, node), name,
           did_you_mean(name, command_names));
    }
    const bool old = std::any_of(command_names.begin(), command_names.end(),
                                 [&](const std::string& one) { return new_word(one, name).has_value(); });
    if (!node.is_table() && !old &&
        std::find(all_options.begin(), all_options.end(), name) == all_options.end()) {
      fail(Fault::usage, "{}: no flag is named '--{}'{}", place(file, node), name,
           did_you_mean(name, all_options));
    }
  }
  if (const toml::table* own = table[command.get_name()].as_table()) {
    for (const std::string& key : apply_table(file, *own, command, given, done)) {
      fail(Fault::usage, "{}: `assay {}` has no flag '--{}'{}", place(file, *own->get(key)),
           command.get_name(), key, did_you_mean(key, option_names(command)));
    }
  }
  apply_table(file, table, command, given, done);
}

}  // namespace assay::app
