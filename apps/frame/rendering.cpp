#include "apps/frame/rendering.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <sstream>

#include <assay/error.h>
#include "apps/frame/links.h"
#include "apps/frame/terminal.h"
#include "assay/report/console_table.h"
#include "assay/support/files/file.h"
#include "assay/support/text/text.h"

namespace assay::frame {
namespace {

// Whether a pipe's other end is closed, as `head` closes it when it has seen enough.
bool reader_is_gone(int descriptor) {
  pollfd readiness{descriptor, POLLOUT, 0};
  return ::poll(&readiness, 1, 0) == 1 && (readiness.revents & POLLERR) != 0;
}

void write_rendering(const report::Document& document, const report::Renderer& renderer,
                     const std::string& file) {
  if (!renderer.tells_of(document))
    fail(Fault::usage, "--{} has no effect: this result has no table '{}'; leave it out", renderer.name,
         renderer.table);
  if (!renderer.render_files) return write_file(file, renderer.render(document));
  for (const auto& [part, text] : renderer.render_files(document))
    write_file(std::filesystem::path(file) / part, text);
}

// The first error of several attempts, all of which are made.
class Attempts {
 public:
  void make(const std::function<void()>& attempt) {
    try {
      attempt();
    } catch (const Error&) {
      if (!first_) first_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

void write_files(const report::Document& document, const Settings& settings, Attempts& attempts) {
  if (settings.json != "-" && !settings.json.empty())
    attempts.make([&] { write_file(settings.json, report::to_json(document)); });
  for (const auto& [name, file] : settings.renderings) {
    if (file.empty()) continue;
    attempts.make([&] { write_rendering(document, report::renderers().find(name), file); });
  }
}

// One table, so that programs can read it: the first that people are shown. The others are named.
std::string table_as_csv(const report::Document& document, const Settings& settings) {
  std::vector<std::string> others;
  for (const auto& [file, text] : report::to_csv_files(document)) others.push_back(file);
  const auto first = std::ranges::find_if(document.tables, [](const report::Table& t) { return !t.detail; });
  const std::string chosen = first == document.tables.end() ? "facts" : first->id;
  std::erase(others, chosen + ".csv");
  if (!others.empty() && !settings.quiet)
    say(fmt::format("assay: this is the table {}; --csv FOLDER also writes {}", chosen, joined(others)));
  if (first != document.tables.end()) return report::to_csv(*first);
  for (const auto& [file, text] : report::to_csv_files(document)) {
    if (file == "facts.csv") return text;
  }
  return {};
}

void print_for_people(const report::Document& document, const Settings& settings) {
  const bool terminal = is_terminal(STDOUT_FILENO);
  std::ostringstream text;
  const report::ConsoleStyle style{.colour = terminal && std::getenv("NO_COLOR") == nullptr,
                                   .width = terminal_width(),
                                   .details = settings.verbose};
  if (terminal && !settings.verbose)
    report::print_fitted(document, text, style, "-v, --csv and a wider terminal show them");
  else
    report::print(document, text, style);
  std::cout << (links_are_shown(terminal) ? with_links(text.str()) : text.str());
}

}  // namespace

void require_one_form(const Settings& settings) {
  if (settings.json == "-" && settings.format != "text" && settings.format != "json")
    fail(Fault::usage, "--json - and --format {} both write to standard output; leave one out",
         settings.format);
}

void render(const report::Document& document, const Shown& shown, const Settings& settings) {
  Attempts attempts;
  write_files(document, settings, attempts);
  if (settings.prints_json())
    std::cout << report::to_json(shown.document);
  else if (settings.format == "csv")
    std::cout << table_as_csv(shown.document, settings);
  else if (settings.format == "markdown")
    std::cout << report::to_markdown(shown.document);
  else if (!shown.printed.empty())
    std::cout << shown.printed;
  else
    print_for_people(shown.document, settings);
  flush_standard_output();
  attempts.rethrow();
}

void flush_standard_output() {
  std::cout.flush();
  if (std::cout) return;
  if (reader_is_gone(STDOUT_FILENO)) throw Error(Fault::io, "");  // it wants no word either
  fail(Fault::io, "standard output: writing failed (disk full or closed?)");
}

}  // namespace assay::frame
