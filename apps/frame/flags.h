#pragma once

// Flags: declared by a command in a line each, and their facts for help, manual pages, completion and
// messages.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <assay/message.h>
#include "assay/support/files/outputs.h"
#include "assay/support/text/parse.h"

namespace assay::frame {

// The kind of the files that a flag names.
enum class Concept {
  none,
  network,
  other_network,  // in addition to the one that the command is about
  training_data,
  test_data,
  data,
  profile,
  state,
  document,
  input
};
// "training data"; empty for none.
std::string_view to_string(Concept files);

// What callers in another language read back of a file or folder that a command writes. A network may be in a
// folder; of records there is a folder of archives.
enum class Product { none, network, networks, records, ids, predictions, state };
// "network"; empty for none.
std::string_view to_string(Product product);

// Outputs of a flag in addition to a file or whole folder of its name.
struct Written {
  std::vector<std::string> members = {"*"};  // of a folder, as Output has them
  std::filesystem::path (*journal)(const std::filesystem::path& named) = nullptr;
  std::function<bool()> when = {};                    // whether it is written at all; empty: always
  std::function<bool()> goes_on = {};                 // whether what is there is read first; empty: never
  std::function<std::vector<Output>()> instead = {};  // all that is written, where none of these tells it
  Product product = Product::none;
  bool guarded = false;  // what holds something else is replaced with --force only
};

struct WrittenFlag {
  std::string flag;
  bool is_folder;
  const std::string* value;
  Written written;
};

// Flags that all commands have and only some heed: each command takes those that have an effect on it.
enum class Shared { force, seed, threads, batch, device, engine, memory };

// What a command says of itself with its flags.
struct Declared {
  std::vector<WrittenFlag> written;
  std::set<Shared> taken;
};
std::vector<Output> outputs_of(const std::vector<WrittenFlag>& flags);
// Of a state in a file.
std::filesystem::path journal_beside(const std::filesystem::path& file);

// Type of one value of a flag: T, or that of a list of T, or of an optional T.
template <typename T>
struct OneValue {
  using Type = T;
};
template <typename T>
struct OneValue<std::vector<T>> {
  using Type = T;
};
template <typename T>
struct OneValue<std::optional<T>> {
  using Type = T;
};

// Why a text is not a number of this kind.
std::string no_number(const std::string& text, bool whole, bool negative_too);

// Reads the text by number_of(), so that CLI11's own reading, in which 010 is eight, cannot differ. Says what
// is wrong, or nothing.
template <typename Number>
std::string to_plain_number(std::string& text) {
  const auto number = number_of<Number>(text);
  if (!number) return no_number(text, std::is_integral_v<Number>, std::is_signed_v<Number>);
  if constexpr (std::is_floating_point_v<Number>) {
    if (!fits_networks(*number)) return "'" + text + "' is beyond the numbers that networks compute with";
  }
  if constexpr (std::is_integral_v<Number>) text = std::to_string(*number);
  return {};
}

// Where a command declares its flags.
class Flags {
 public:
  // `group`: the heading of --help under which they stand; empty: that of the command's own.
  // `declared`: where it stands what the command says of itself; null: nowhere.
  explicit Flags(CLI::App& app, std::string group = "", Declared* declared = nullptr)
      : app_(app), group_(std::move(group)), declared_(declared) {}
  Flags in_group(std::string group) const;

  // A flag whose value goes to `value`; `names`: "--criterion SPEC", "-m,--neurons 6,8,...", "states FILE" of
  // what stands without dashes, "model,--model FILE" of what stands with or without; the word after a blank
  // says what a value is. A bool is a switch; a vector takes several values, one after the other.
  template <typename T>
  CLI::Option* add(const std::string& names, T& value, const std::string& help) const {
    const auto [name, type] = parts_of_names(names);
    CLI::Option* option = nullptr;
    if constexpr (std::is_same_v<T, bool>)
      option = app_.add_flag(name, value, help);
    else
      option = app_.add_option(name, value, help);
    using Value = typename OneValue<T>::Type;
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>)
      option->transform(CLI::Validator(to_plain_number<Value>, ""));
    return placed(option, type);
  }
  // Its default is shown as words with blanks between them; libraries may define another operator<< for
  // vectors.
  CLI::Option* add(const std::string& names, std::vector<std::string>& value, const std::string& help) const;
  // A list of specs or names, which are given one after the other, in several flags or with commas between
  // them (split_specs()).
  CLI::Option* add_list(const std::string& names, std::vector<std::string>& value,
                        const std::string& help) const;
  // The same as one text with commas, for what divides it itself.
  CLI::Option* add_list(const std::string& names, std::string& value, const std::string& help) const;
  // The same, refusing what `check` does not take.
  template <typename T>
  CLI::Option* add(const std::string& names, T& value, const std::string& help,
                   const CLI::Validator& check) const {
    return add(names, value, help)->check(check);
  }

  // A flag that names a file or folder to write. Other flags name something read; this does not depend on
  // other flags.
  CLI::Option* add_output(const std::string& names, std::string& value, const std::string& help,
                          Written written = {}) const;
  // A flag that names code that will run.
  template <typename T>
  CLI::Option* add_code(const std::string& names, T& value, const std::string& help) const {
    return marked(add(names, value, help), code_mark);
  }

  // For flags that name such files; that run code, or write and remove what no flag names; that say how a run
  // tells and keeps what it finds; that concern a terminal or the start of a program, not the question.
  Flags naming(Concept files) const { return with_mark(to_string(files).data()); }
  Flags acting() const { return with_mark(act_mark); }
  Flags of_the_run() const { return with_mark(run_mark); }
  Flags of_the_program() const { return with_mark(program_mark); }
  // In calls of functions, arguments without a name are what may stand without dashes, in the order in which
  // it is declared. These flags are as well; these have a name nevertheless.
  Flags leading() const { return with_mark(lead_mark); }
  Flags by_keyword() const { return with_mark(keyword_mark); }

  // Flags of all commands that have an effect on this one.
  void take(std::initializer_list<Shared> shared) const;
  // Those of commands that run networks, whatever they do with them.
  void take_those_of_networks() const {
    take({Shared::threads, Shared::batch, Shared::device, Shared::engine, Shared::memory});
  }

  // A text below the command's summary in its help.
  void describe(const std::string& text) { app_.description(app_.get_description() + "\n\n" + text); }
  // Those of these names ("--count"), which are declared already.
  std::vector<const CLI::Option*> named(std::initializer_list<const char*> names) const;
  // All that are declared so far, but for the first `skipped` ones.
  std::vector<const CLI::Option*> all(std::size_t skipped = 0) const;
  // A word that is not allowed in the first position is meant for the second.
  void skip_other_words() { app_.validate_positionals(); }

 private:
  friend bool is_written(const CLI::Option& option);
  friend bool runs_code(const CLI::Option& option);
  friend bool acts(const CLI::Option& option);
  friend bool is_of_the_run(const CLI::Option& option);
  friend bool is_of_the_program(const CLI::Option& option);
  friend void mark_as_of_the_program(CLI::Option& option);
  friend bool leads(const CLI::Option& option);
  friend Product product_of(const CLI::Option& option);
  friend Concept files_of(const CLI::Option& option);
  friend bool is_list(const CLI::Option& option);
  friend bool is_default(const CLI::Option& option);
  friend void mark_as_default(CLI::Option& option);
  friend bool is_idle(const CLI::Option& option);
  friend void mark_as_idle(CLI::Option& option);
  static constexpr const char *written_mark = "written", *code_mark = "code", *list_mark = "list",
                              *default_mark = "default", *act_mark = "acts", *run_mark = "run",
                              *program_mark = "program", *lead_mark = "leads", *keyword_mark = "keyword",
                              *idle_mark = "idle";
  static CLI::Option* marked(CLI::Option* option, const char* mark);
  static bool has_mark(const CLI::Option& option, const char* mark);
  static std::pair<std::string, std::string> parts_of_names(const std::string& names);
  CLI::Option* placed(CLI::Option* option, const std::string& type) const;
  Flags with_mark(const char* mark) const;

  CLI::App& app_;
  std::string group_;
  Declared* declared_;
  std::vector<const char*> marks_;  // of all that are declared with these
};

// "count-layer" of --count-layer, "states" of what stands without dashes.
std::string name_of(const CLI::Option& option);
// "--count-layer", "states".
std::string flag_of(const CLI::Option& option);
// The same in messages.
Message named(const CLI::Option& option);
bool is_switch(const CLI::Option& option);
// What add_output() and add_code() have declared.
bool is_written(const CLI::Option& option);
bool runs_code(const CLI::Option& option);
// What naming(), acting() and of_the_run() have said. What runs code acts.
Concept files_of(const CLI::Option& option);
bool acts(const CLI::Option& option);
bool is_of_the_run(const CLI::Option& option);
bool is_of_the_program(const CLI::Option& option);
// For --help, which is not declared with others.
void mark_as_of_the_program(CLI::Option& option);
// Whether it has no name in calls of functions.
bool leads(const CLI::Option& option);
// What Written::product has said; a state that is written is one.
Product product_of(const CLI::Option& option);
// A list of specs or names that add_list() has declared.
bool is_list(const CLI::Option& option);

// All names by which options can be given, without dashes.
std::vector<std::string> long_names(const CLI::App& app);

// Default of an option, as text. Nothing for lists without elements, which CLI11 writes as "[]" or, from 2.4
// on, as "{}".
std::string fallback_of(const CLI::Option& option);

// The words that the option takes, if they are a list.
std::vector<std::string> words_of(const CLI::Option& option);

// Text of the error, without bounds as long as the greatest number.
std::string message_of(const CLI::Error& error);

// The error if one value was named twice, by its flag and without it, or if a word is left over without a
// position; empty: none.
std::string clash_of(const CLI::App& app);

// Moves what was typed for `first`, which can stand without its flag, to `second`, which was not typed.
void move_typed(CLI::Option& first, CLI::Option& second);

// Gives an option its values as text, as if it had been typed. `place`: where they come from, for messages
// ("assay.toml:3", "`assay cover`"). Throws Error{usage} for values that it does not take.
void give_values(CLI::Option& option, std::vector<std::string> values, const std::string& place);

// Settings of a configuration file hold for many runs: without effect they are ignored, not refused.
void mark_as_default(CLI::Option& option);
bool is_default(const CLI::Option& option);

// A flag of all commands that this one does not take. No help names it.
void mark_as_idle(CLI::Option& option);
bool is_idle(const CLI::Option& option);

// Throws Error{usage}, "--flag has no effect WHY; leave it out", for an option that was typed with another
// value than the one that holds without it: recorded commands name those.
void refuse_without_effect(const std::vector<const CLI::Option*>& options, const Message& why);
// The same for an option that was typed at all.
void refuse_given(const std::vector<const CLI::Option*>& options, const Message& why);

}  // namespace assay::frame
