#include "apps/frame/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "assay/report/console_table.h"
#include "assay/support/text/text.h"

namespace assay::frame {
namespace {

constexpr std::size_t screen = 80, title_width = 10,
                      name_width = 11;  // characters of a line and of its columns

// The longest beginning that says something of its own and fits: "what a data set holds" of "what a data set
// holds: counts, shapes".
std::string beginning(const std::string& summary, std::size_t most) {
  const std::string line = summary.substr(0, summary.find('\n'));
  if (line.size() <= most) return line;
  const std::size_t whole = line.find_first_of(":;"), part = line.find_last_of(',', most);
  return line.substr(0, whole <= most ? whole : std::min(part, most));
}

std::string lines_of(const HelpGroup& group, const CLI::App& root) {
  std::string text, title(group.group.title);
  if (group.group.one_line) {
    const std::vector<std::string> all(group.commands.begin(), group.commands.end());
    return fmt::format("{:<{}}{}\n", title, title_width, joined(all));
  }
  for (const std::string_view name : group.commands) {
    const std::string& summary = root.get_subcommand(std::string(name))->get_description();
    text += fmt::format("{:<{}}{:<{}}{}\n", title, title_width, name, name_width,
                        beginning(summary, screen - title_width - name_width));
    title.clear();
  }
  return text;
}

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter(std::vector<HelpGroup> groups, std::size_t width)
      : groups_(std::move(groups)), width_(width) {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (app->get_parent() == nullptr && !groups_.empty()) return make_list(*app);
    whole_ = mode == CLI::AppFormatMode::All;
    const std::string page = CLI::Formatter::make_help(app, std::move(name), mode);
    return width_ == 0 ? page : fitted(page);
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
  // Fits a screen of 24 lines.
  std::string make_list(const CLI::App& root) const {
    std::string text = fmt::format("{} Usage: {} COMMAND [FLAGS]\n", root.get_description(), root.get_name());
    for (const HelpGroup& group : groups_) text += lines_of(group, root);
    return text + root.get_footer() + "\n";
  }

  // Texts go on below themselves, right of the flags. Examples stay as they can be typed.
  std::string fitted(const std::string& page) const {
    const std::size_t examples = std::min(page.find("\nExamples:"), page.size());
    std::istringstream lines(page.substr(0, examples));
    std::string result;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t column = column_of(line);
      const std::size_t width = std::max(width_, column + least_text);
      if (line.size() <= width) {
        result += line + "\n";
        continue;
      }
      std::string head = line.substr(0, column);
      for (const std::string& part : report::lines_of(line.substr(column), width - column)) {
        result += head + part + "\n";
        head.assign(column, ' ');
      }
    }
    return result + page.substr(examples);
  }

  // Where the text of a line begins: right of a flag, or of a name in a separate list.
  std::size_t column_of(const std::string& line) const {
    if (!line.starts_with(' ')) return 0;
    const std::size_t right = get_column_width(), name = line.find_first_not_of(' ');
    if (line.size() <= right || line[right - 1] == ' ' || line.compare(name, 1, "-") == 0) return right;
    const std::size_t end = line.find("  ", name);
    return end < right ? line.find_first_not_of(' ', end) : std::min(right, name + 2);
  }

  static constexpr std::size_t least_text = 20;  // columns
  std::vector<HelpGroup> groups_;
  std::size_t width_;
  mutable bool whole_ = false;  // of the page that is being made
};

}  // namespace

std::vector<HelpGroup> groups_of(std::span<const CommandInfo> commands) {
  std::vector<HelpGroup> groups;
  for (const CommandInfo& command : commands) {
    const auto same = [&](const HelpGroup& group) { return group.group.title == command.group.title; };
    auto found = std::ranges::find_if(groups, same);
    if (found == groups.end()) found = groups.insert(groups.end(), {command.group, {}});
    found->commands.push_back(command.name);
  }
  return groups.size() == 1 && groups[0].group.title.empty() ? std::vector<HelpGroup>() : groups;
}

std::shared_ptr<CLI::FormatterBase> make_help_formatter(std::vector<HelpGroup> groups, std::size_t width) {
  return std::make_shared<HelpFormatter>(std::move(groups), width);
}

}  // namespace assay::frame
