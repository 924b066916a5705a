#include "apps/frame/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <assay/error.h>
#include "apps/frame/flags.h"
#include "assay/support/files/toml_file.h"
#include "assay/support/text/text.h"

namespace assay::frame {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names = long_names(app);
  for (const CLI::Option* option : app.get_options())
    names.insert(names.end(), option->get_snames().begin(), option->get_snames().end());
  return names;
}

// By its long or its one-letter name; null when there is none.
CLI::Option* find_option(CLI::App& app, const std::string& name) {
  return app.get_option_no_throw((name.size() == 1 ? "-" : "--") + name);
}

using Seen = std::set<const CLI::Option*>;

// What a file cannot say of itself, and what shows a text in place of the command.
bool is_typed_only(const CLI::App& command, const CLI::Option& option) {
  const std::string& name = option.get_name();
  return name == "--trust" || name == "--config" || name == "--watch" || &option == command.get_help_ptr() ||
         &option == command.get_help_all_ptr() || &option == command.get_version_ptr();
}

// Options of `command` named by the keys of `table`; returns keys that are not options of it.
std::vector<std::string> apply_table(const std::filesystem::path& file, const Words& words,
                                     const toml::table& table, CLI::App& command, const Seen& given,
                                     Configured& done) {
  std::vector<std::string> unknown;
  for (const auto& [key, node] : table) {
    if (node.is_table() || node.is_array_of_tables()) continue;
    const std::string name = new_word(words, command.get_name(), key.str()).value_or(std::string(key.str()));
    CLI::Option* option = find_option(command, name);
    if (option == nullptr) {
      unknown.emplace_back(key.str());
    } else if (is_typed_only(command, *option)) {
      fail(Fault::usage, "{}: {} is for the command line only", place_in(file, node), flag_of(*option));
    } else if (!given.contains(option) && done.emplace(option, place_in(file, node)).second) {
      give_values(*option, texts_of(file, node), place_in(file, node));
      mark_as_default(*option);
    }
  }
  return unknown;
}

}  // namespace

Configured apply_config(const std::filesystem::path& file, const Words& words,
                        std::span<const std::string_view> tables, CLI::App& root, CLI::App& command) {
  const toml::table table = read_configuration(file);
  Seen given;
  Configured done;
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
    if (std::ranges::find(tables, name) != tables.end()) continue;
    const bool known_table =
        std::find(command_names.begin(), command_names.end(), name) != command_names.end();
    if (node.is_table() && !known_table) {
      fail(Fault::usage, "{}: no subcommand is named '{}'{}", place_in(file, node), name,
           did_you_mean(name, command_names));
    }
    const bool old = std::any_of(command_names.begin(), command_names.end(), [&](const std::string& one) {
      return new_word(words, one, name).has_value();
    });
    if (!node.is_table() && !old &&
        std::find(all_options.begin(), all_options.end(), name) == all_options.end()) {
      fail(Fault::usage, "{}: no flag is named '--{}'{}", place_in(file, node), name,
           did_you_mean(name, all_options));
    }
  }
  if (const toml::table* own = table[command.get_name()].as_table()) {
    for (const std::string& key : apply_table(file, words, *own, command, given, done)) {
      fail(Fault::usage, "{}: `assay {}` has no flag '--{}'{}", place_in(file, *own->get(key)),
           command.get_name(), key, did_you_mean(key, option_names(command)));
    }
  }
  apply_table(file, words, table, command, given, done);
  return done;
}

}  // namespace assay::frame
