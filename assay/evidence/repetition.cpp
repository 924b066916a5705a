#include "assay/evidence/repetition.h"

#include <algorithm>
#include <set>

#include <assay/error.h>
#include "assay/evidence/step_commands.h"
#include "assay/support/files/file.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;

bool is_flag(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// --NAME=VALUE, --NAME, -mVALUE.
std::pair<std::string, std::string> parts_of_flag(const std::string& word) {
  if (!word.starts_with("--")) return {word.substr(1, 1), word.substr(2)};
  const std::size_t equals = std::min(word.find('='), word.size());
  return {word.substr(2, equals - 2), word.substr(std::min(equals + 1, word.size()))};
}

bool gives(const NamedValues& values, const std::string& name) {
  return std::ranges::find(values, name, &NamedValues::value_type::first) != values.end();
}

// Data that are drawn, not read: NAME:...
bool is_generated(const std::string& value) {
  const std::size_t colon = value.find(':');
  return colon != std::string::npos && value.find_first_of("/.,[") > colon;
}

// Whether the file, or a file in the folder, of this path is listed.
bool is_listed(const fs::path& path, std::span<const InputFile> inputs) {
  const std::string name = path.lexically_normal().generic_string();
  return std::ranges::any_of(inputs, [&](const InputFile& input) {
    const std::string file = fs::path(input.path).lexically_normal().generic_string();
    return file == name || name == "." ||
           (file.starts_with(name) && (name.ends_with('/') || file[name.size()] == '/'));
  });
}

// The file of this path in a folder, or those in the folder of this path.
std::vector<fs::path> files_of(const fs::path& path, const fs::path& from, bool folders) {
  std::error_code code;
  if (fs::is_regular_file(from / path, code)) return {path};
  std::vector<fs::path> files;
  if (!folders || !fs::is_directory(from / path, code)) return files;
  for (fs::recursive_directory_iterator entry(from / path, code), end; !code && entry != end;
       entry.increment(code)) {
    if (entry->is_regular_file(code)) files.push_back(path / entry->path().lexically_relative(from / path));
  }
  return files;
}

}  // namespace

NamedValues named_values(const std::vector<std::string>& typed) {
  NamedValues all;
  bool waits = false;  // the last flag may take the next word
  for (std::size_t i = 1; i < typed.size(); ++i) {
    const std::string& word = typed[i];
    if (is_flag(word)) {
      all.push_back(parts_of_flag(word));
      waits = all.back().second.empty();
    } else if (waits) {
      all.back().second = word;
      waits = false;
    } else {
      all.emplace_back("", word);
    }
  }
  return all;
}

std::string why_not_repeated(const std::vector<std::string>& typed, const std::string& what) {
  const std::string& command = typed.at(0);
  if (!step_command(command).measures) {
    std::vector<std::string> names;
    for (const auto& [name, known] : step_commands()) {
      if (known.measures) names.push_back(name);
    }
    return fmt::format("`assay {}` is not among the commands that are ({})", command, joined(names));
  }
  const NamedValues values = named_values(typed);
  const bool learns = gives(values, "train");
  std::vector<std::string> refused;
  std::string reason;
  for (const auto& [name, value] : values) {
    const StepFlag* const flag = step_flag(command, name);
    const bool action = name.empty() && value != "run" && value != "list";
    if (flag != nullptr && flag->repeated() && !is_made(*flag, learns) && !action) continue;
    if (flag != nullptr && flag->acts && !flag->of_the_run)
      reason = fmt::format("--{} runs a program, writes or removes files", name);
    else
      refused.push_back(name.empty() ? "'" + value + "'" : (name.size() == 1 ? "-" : "--") + name);
  }
  if (!refused.empty())
    fail(Fault::data, "{}: its command has {}, which no command of a pack has that only measures", what,
         joined(refused));
  return reason;
}

FreshFolder::FreshFolder(std::span<const InputFile> inputs, const fs::path& from) {
  // So deep that every path of an input leads into it.
  std::size_t depth = 0;
  for (const InputFile& input : inputs) {
    const fs::path normal = fs::path(input.path).lexically_normal();
    depth =
        std::max<std::size_t>(depth, static_cast<std::size_t>(std::ranges::count(normal, fs::path(".."))));
  }
  constexpr std::size_t deepest = 100;
  work_ = path() / "inputs";
  for (std::size_t level = 0; level < std::min(depth, deepest); ++level) work_ /= "0";
  make_folders(work_);
  for (const InputFile& input : inputs) link(input, from);
}

void FreshFolder::link(const InputFile& input, const fs::path& from) const {
  const fs::path given(input.path), inside = (work_ / given).lexically_normal();
  const auto [end, rest] = std::mismatch(path().begin(), path().end(), inside.begin(), inside.end());
  std::error_code code;
  if (given.empty() || given.is_absolute() || end != path().end() || !fs::is_regular_file(from / given, code))
    return;
  fs::create_directories(inside.parent_path(), code);
  fs::create_symlink(fs::absolute(from / given), inside, code);
}

std::string text_with_files(const std::string& flag, const std::string& value) {
  return flag == "task" ? value.substr(std::min(value.find('['), value.size())) : value;
}

std::vector<std::string> unlisted_inputs(std::span<const std::vector<std::string>> commands,
                                         std::span<const InputFile> inputs, const fs::path& from) {
  std::set<std::string> unlisted;
  for (const std::vector<std::string>& typed : commands) {
    for (const auto& [name, value] : named_values(typed)) {
      const StepFlag* const flag = step_flag(typed.at(0), name);
      if (flag == nullptr || flag->files.empty() || value.empty()) continue;
      const bool is_subject = flag->files != "input";
      const std::vector<fs::path> named = paths_in(text_with_files(name, value));
      const auto listed = [&](const fs::path& path) { return is_listed(path, inputs); };
      if (is_subject && !is_generated(value) && std::ranges::none_of(named, listed)) unlisted.insert(value);
      for (const fs::path& path : named) {
        const bool about = is_subject && value.starts_with(path.string());
        for (const fs::path& file : files_of(path, from, about))
          if (!listed(file)) unlisted.insert(file.string());
      }
    }
  }
  return {unlisted.begin(), unlisted.end()};
}

}  // namespace assay::evidence
