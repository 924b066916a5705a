#include <algorithm>
#include <set>

#include <assay/error.h>
#include "apps/frame/program.h"
#include "assay/support/text/text.h"

namespace assay::frame {
namespace {

// Whether a question can have it with an effect. Its result is no file that --force could replace.
bool is_offered(const CLI::Option& option, const Posed& posed) {
  if (is_of_the_program(option) || is_idle(option)) return false;
  return name_of(option) != "force" ||
         std::ranges::any_of(posed.command->declared().written,
                             [](const WrittenFlag& flag) { return flag.written.guarded; });
}

std::vector<std::string> names_of_question(const Posed& posed) {
  std::vector<std::string> all;
  for (const CLI::Option* option : posed.flags.get_options()) {
    if (is_offered(*option, posed)) all.push_back(name_of(*option));
  }
  return all;
}

// Name of what the option writes in a folder for outputs that no one named: "out.csv" of "--out FILE.csv".
// Empty where it is not written, or only when it is named, and not read back.
std::string place_of(const CLI::Option& option) {
  constexpr std::string_view file = "FILE";
  const Product product = product_of(option);
  const bool read_back =
      product != Product::none && product != Product::state && product != Product::predictions;
  if (!is_written(option) || (!read_back && fallback_of(option).empty())) return {};
  const std::string type = option.get_type_name();
  return name_of(option) + (type.starts_with(file) ? type.substr(file.size()) : "");
}

QuestionFlag described(const CLI::Option& option) {
  QuestionFlag flag{name_of(option), option.get_description(), {}, {}};
  flag.is_switch = is_switch(option);
  flag.repeats = option.get_expected_max() > 1;
  if (flag.is_switch) return flag;
  flag.type = option.get_type_name().substr(0, option.get_type_name().find(':'));
  flag.files = to_string(files_of(option));
  flag.product = to_string(product_of(option));
  flag.place = place_of(option);
  flag.leads = leads(option);
  flag.words = words_of(option);
  flag.fallback = fallback_of(option);
  return flag;
}

const CommandInfo& command_named(const Program& program, const std::string& name) {
  std::vector<std::string> names;
  for (const CommandInfo& info : program.commands) {
    if (info.name == name) return info;
    names.emplace_back(info.name);
  }
  fail(Fault::usage, "no subcommand is named '{}'{}", name, did_you_mean(name, names));
}

void give_flags(const FlagValues& flags, Posed& posed) {
  const std::string& command = posed.flags.get_name();
  std::set<std::string> given;
  for (const auto& [name, values] : flags) {
    CLI::Option* const option = posed.flags.get_option_no_throw("--" + name) != nullptr
                                    ? posed.flags.get_option_no_throw("--" + name)
                                    : posed.flags.get_option_no_throw(name);
    if (option == nullptr || is_of_the_program(*option))
      fail(Fault::usage, "`assay {}` has no flag '--{}'{}", command, name,
           did_you_mean(name, names_of_question(posed)));
    if (!given.insert(name_of(*option)).second)
      fail(Fault::usage, "`assay {}`: --{} is given twice", command, name);
    give_values(*option, values.empty() ? std::vector<std::string>{"true"} : values,
                "`assay " + command + "`");
  }
}

void give_defaults(const FlagValues& flags, Posed& posed) {
  for (const auto& [name, values] : flags) {
    CLI::Option& option = *posed.flags.get_option("--" + name);
    if (option.count() > 0) continue;
    give_values(option, values, "--" + name);
    mark_as_default(option);
  }
}

// Names what the command will write and no one has named.
void place_outputs(const std::filesystem::path& folder, Posed& posed) {
  for (const WrittenFlag& written : posed.command->declared().written) {
    CLI::Option& option = *posed.flags.get_option(written.flag);
    const std::string place = place_of(option);
    if (place.empty() || option.count() > 0 || (written.written.when && !written.written.when())) continue;
    give_values(option, {(folder / place).string()}, written.flag);
    mark_as_default(option);
  }
}

// Outputs that no one named are read back, and their folder is gone with the result: its place says nothing.
void forget_folder(const std::filesystem::path& folder, std::string& text) {
  const std::string place = (folder / "").string();
  for (std::size_t at = text.find(place); at != text.npos; at = text.find(place, at))
    text.erase(at, place.size());
}

void forget_folder(const std::filesystem::path& folder, report::Document& document) {
  forget_folder(folder, document.headline);
  for (report::Table& table : document.tables)
    for (std::vector<report::Cell>& row : table.rows)
      for (report::Cell& cell : row)
        if (auto* const text = std::get_if<std::string>(&cell)) forget_folder(folder, *text);
  for (auto& [key, value] : document.provenance) {
    auto* const options = key == "options" ? std::get_if<std::string>(&value) : nullptr;
    if (options != nullptr) forget_folder(folder, *options);
  }
}

// Clears what an earlier question, which ended before it looked, has left.
void forget_interrupt() {
  try {
    check_interrupt();
  } catch (const Error&) {
    // Meant for that one.
  }
}

}  // namespace

std::vector<QuestionCommand> question_commands(const Program& program) {
  std::vector<QuestionCommand> all;
  for (const CommandInfo& info : program.commands) {
    const Posed posed(info);
    QuestionCommand command{
        std::string(info.name), std::string(info.summary), std::string(info.examples), {}};
    command.runs_program = posed.command->runs_program();
    std::size_t position = 0;
    for (const CLI::Option* option : posed.flags.get_options()) {
      const bool common = position++ >= posed.own;
      if (!is_offered(*option, posed)) continue;
      command.flags.push_back(described(*option));
      command.flags.back().common = common;
    }
    all.push_back(std::move(command));
  }
  return all;
}

report::Document ask(const Program& program, const std::string& command, const FlagValues& flags,
                     Progress& progress, const std::filesystem::path& folder, const FlagValues& for_all) {
  Posed posed(command_named(program, command));
  give_flags(flags, posed);
  give_defaults(for_all, posed);
  if (!folder.empty()) place_outputs(folder, posed);
  posed.settings.json = "-";  // as detailed as for a file
  forget_interrupt();
  report::Document document = answer(program, posed.flags, *posed.command, posed.settings, progress);
  if (!folder.empty()) forget_folder(folder, document);
  posed.command->result_written();
  return document;
}

}  // namespace assay::frame
