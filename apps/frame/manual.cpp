#include "apps/frame/manual.h"

#include <fmt/format.h>

#include <sstream>

#include "apps/frame/completion.h"
#include "assay/support/ascii.h"
#include "assay/support/files/file.h"

namespace assay::frame {
namespace {

// Text that roff prints as it is: a backslash begins an escape, a hyphen may become a dash, and a point or an
// apostrophe at the beginning of a line a request.
std::string as_typed(const std::string& text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    line_begins = c == '\n';
  }
  return result;
}

std::string bold(const std::string& text) { return "\\fB" + as_typed(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + as_typed(text) + "\\fR"; }

// Lines that stay lines. Blank ones would be requests.
std::string preformatted(const std::string& text) {
  std::string result = ".nf\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) result += (line.empty() ? ".sp" : as_typed(line)) + "\n";
  return result + ".fi\n";
}

// "Examples:" and what follows it become a section, everything else a paragraph.
std::string footer_section(const std::string& footer) {
  const std::string examples = "Examples:\n";
  if (!footer.starts_with(examples)) return footer.empty() ? "" : ".PP\n" + as_typed(footer) + "\n";
  return ".SH EXAMPLES\n" + preformatted(footer.substr(examples.size()));
}

std::string item(const std::string& tag, const std::string& text) {
  return ".TP\n" + tag + "\n" + as_typed(text.empty() ? " " : text) + "\n";
}

std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return italic(option.get_name());
  std::string flags;
  for (const std::string& name : option.get_snames()) flags += (flags.empty() ? "" : ", ") + bold("-" + name);
  for (const std::string& name : option.get_lnames())
    flags += (flags.empty() ? "" : ", ") + bold("--" + name);
  return flags;
}

// All options by their groups, in the order of --help.
std::string options_section(const CLI::App& app) {
  std::string section;
  for (const std::string& group : app.get_groups()) {
    std::string items;
    const auto in_group = [&](const CLI::Option* option) { return option->get_group() == group; };
    for (const CLI::Option* option : app.get_options(in_group)) {
      const std::string value = CLI::Formatter().make_option_opts(option);
      items += item(names_of(*option) + as_typed(value), option->get_description());
    }
    if (!group.empty() && !items.empty()) section += ".SH " + upper_case(group) + "\n" + items;
  }
  return section;
}

std::string heading(const CLI::App& root, const std::string& name) {
  return fmt::format(".TH \"{}\" 1 \"\" \"{}\" \"Assay manual\"\n", as_typed(upper_case(name)),
                     as_typed(root.version().substr(0, root.version().find('\n'))));
}

std::string page_of(const CLI::App& root, const CLI::App& command) {
  const std::string name = root.get_name() + "-" + command.get_name(), text = command.get_description();
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string page =
      heading(root, name) + ".SH NAME\n" + as_typed(name) + " \\- " + as_typed(text.substr(0, end));
  page +=
      "\n.SH SYNOPSIS\n" + bold(root.get_name() + " " + command.get_name()) + " [" + italic("OPTIONS") + "]";
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) page += " [" + italic(option->get_name()) + "]";
  page += "\n";
  if (const std::size_t rest = text.find_first_not_of('\n', end); rest != std::string::npos)
    page += ".SH DESCRIPTION\n" + preformatted(text.substr(rest));
  return page + options_section(command) + footer_section(command.get_footer()) + ".SH SEE ALSO\n" +
         bold(root.get_name()) + "(1)\n";
}

std::string first_page(const CLI::App& root) {
  std::string page = heading(root, root.get_name()) + ".SH NAME\n" + as_typed(root.get_name()) + " \\- " +
                     as_typed(root.get_description()) + "\n.SH SYNOPSIS\n" + bold(root.get_name()) + " [" +
                     italic("OPTIONS") + "] [" + italic("SUBCOMMAND") + "]\n" + options_section(root) +
                     ".SH SUBCOMMANDS\n";
  for (const CLI::App* command : shown_subcommands(root)) {
    const std::string text = command->get_description();
    page += item(bold(root.get_name() + "-" + command->get_name()) + "(1)", text.substr(0, text.find('\n')));
  }
  return page + ".SH NOTES\n" + as_typed(root.get_footer()) + "\n";
}

}  // namespace

void write_manual(const CLI::App& root, const std::filesystem::path& folder) {
  write_file(folder / (root.get_name() + ".1"), first_page(root));
  for (const CLI::App* command : shown_subcommands(root))
    write_file(folder / fmt::format("{}-{}.1", root.get_name(), command->get_name()),
               page_of(root, *command));
}

}  // namespace assay::frame
