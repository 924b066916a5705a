// The program's commands, asked from Python.

#include <assay/extend/question.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <sstream>

#include <assay/gate.h>
#include <assay/report.h>
#include "assay/report/percent.h"
#include "assay/support/text/visible.h"
#include "python/src/bindings.h"

namespace assay::python {
namespace {

nb::dict described(const frame::QuestionFlag& flag) {
  nb::dict entry;
  entry["name"] = flag.name;
  entry["summary"] = flag.summary;
  entry["type"] = flag.type;
  entry["fallback"] = flag.fallback;
  entry["files"] = flag.files;
  entry["words"] = flag.words;
  entry["is_switch"] = flag.is_switch;
  entry["repeats"] = flag.repeats;
  entry["common"] = flag.common;
  entry["product"] = flag.product;
  entry["place"] = flag.place;
  entry["leads"] = flag.leads;
  return entry;
}

std::vector<nb::dict> commands() {
  std::vector<nb::dict> all;
  for (const frame::QuestionCommand& command : frame::question_commands()) {
    nb::dict entry;
    entry["name"] = command.name;
    entry["summary"] = command.summary;
    entry["examples"] = command.examples;
    entry["runs_program"] = command.runs_program;
    nb::list flags;
    for (const frame::QuestionFlag& flag : command.flags) flags.append(described(flag));
    entry["flags"] = flags;
    all.push_back(std::move(entry));
  }
  return all;
}

// A result document; renderings are made of it on demand.
struct Answer {
  report::Document document;
};

// "--hold-out 0.5" of the program is hold_out=0.5 here.
std::string with_keywords(const Message& message) {
  return message.said([](std::string_view option, std::string_view value) {
    std::string keyword(option);
    std::ranges::replace(keyword, '-', '_');
    return fmt::format("{}{}{}", keyword, value.empty() ? "" : "=", value);
  });
}

Answer asked(const std::string& command,
             const std::vector<std::pair<std::string, std::vector<std::string>>>& flags,
             const std::map<std::string, nb::object>& networks,
             const std::map<std::string, std::string>& network_folders,
             const std::map<std::string, const Records*>& datasets, const std::string& folder,
             const nb::object& listener) {
  frame::Question question{
      .command = command, .flags = flags, .folder = folder, .network_folders = network_folders};
  for (const auto& [name, network] : networks) question.networks.emplace(name, graph_of(network));
  for (const auto& [name, records] : datasets) question.datasets.emplace(name, records->set);
  const std::unique_ptr<Progress> progress = make_progress(listener);
  try {
    return {unlocked([&] {
      report::Document document = frame::ask(question, *progress);
      finish(*progress);
      return document;
    })};
  } catch (const Error& error) {
    if (!error.message().names_options()) throw;  // it may be of a type of its caller's
    throw Error(error.fault(), with_keywords(error.message()));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const nb::python_error&) {
    throw;
  } catch (const std::filesystem::filesystem_error& error) {
    fail(Fault::io, "{}", error.what());
  } catch (const std::exception& error) {
    fail(Fault::internal, "internal error, please report it: {}", error.what());
  }
}

nb::dict gate_of(const Answer& answer, const std::string& text) {
  const report::Gate gate =
      report::evaluate(report::parse_gate(text), report::measurements_of(answer.document));
  nb::dict entry;
  entry["text"] = gate.text;
  entry["described"] = report::described(gate);
  entry["passed"] = gate.passed;
  entry["reason"] = gate.reason;
  return entry;
}

// A table's first rows as people read them, with the numbers of its first column of fractions.
nb::dict shown_table(const report::Table& table, std::size_t most) {
  const auto& columns = table.columns;
  const auto share = std::ranges::find(columns, report::Column::Kind::percent, &report::Column::kind);
  nb::list titles, rows, shares;
  for (const report::Column& column : columns)
    titles.append(
        nb::make_tuple(visible(column.id), visible(column.title), column.kind == report::Column::Kind::text));
  for (const auto& row : std::span(table.rows).first(std::min(most, table.rows.size()))) {
    nb::list cells;
    for (std::size_t c = 0; c < row.size(); ++c) cells.append(visible(report::shown(columns[c], row[c])));
    rows.append(cells);
    if (share == columns.end()) continue;
    const auto* const number = std::get_if<double>(&row[static_cast<std::size_t>(share - columns.begin())]);
    shares.append(number != nullptr ? nb::cast(*number) : nb::none());
  }
  nb::dict entry;
  entry["id"] = visible(table.id);
  entry["title"] = visible(table.title.empty() ? table.id : table.title);
  entry["detail"] = table.detail;
  entry["size"] = table.rows.size();
  entry["columns"] = titles;
  entry["rows"] = rows;
  entry["share"] = share == columns.end() ? nb::none() : nb::cast(share - columns.begin());
  entry["shares"] = shares;
  return entry;
}

// The document as people read it, in texts that do nothing to those around them.
nb::dict shown_of(const Answer& answer, std::size_t most) {
  const report::Document& document = answer.document;
  nb::list gates, warnings, notices, facts, tables, pictures;
  for (const report::Gate& gate : document.gates)
    gates.append(nb::make_tuple(gate.passed, visible(gate.text), visible(report::outcome_of(gate))));
  for (const report::Warning& warning : document.warnings)
    warnings.append(nb::make_tuple(visible(warning.text.text()), visible(warning.cause.text())));
  for (const std::string& notice : document.notices) notices.append(visible(notice));
  for (const report::Fact& fact : document.facts)
    facts.append(nb::make_tuple(visible(fact.title), visible(report::shown(fact))));
  for (const report::Table& table : document.tables) tables.append(shown_table(table, most));
  for (const report::Picture& picture : document.pictures) {
    const std::string path = picture.path.string();
    pictures.append(nb::make_tuple(visible(picture.title), nb::bytes(path.data(), path.size())));
  }
  nb::dict all;
  all["command"] = visible(document.command);
  all["headline"] = visible(document.headline);
  all["gates"] = gates;
  all["warnings"] = warnings;
  all["notices"] = notices;
  all["facts"] = facts;
  all["tables"] = tables;
  all["pictures"] = pictures;
  return all;
}

std::string rendered(const Answer& answer, const std::string& name) {
  const report::Renderer& renderer = report::renderers().find(name);
  if (!renderer.render) fail(Fault::usage, "{0} is a folder of files: render_files(\"{0}\")", name);
  if (!renderer.tells_of(answer.document))
    fail(Fault::usage, "{} tells of the table '{}', which this result does not have", name, renderer.table);
  return renderer.render(answer.document);
}

std::map<std::string, std::string> rendered_files(const Answer& answer, const std::string& name) {
  const report::Renderer& renderer = report::renderers().find(name);
  if (!renderer.render_files) return {{name + renderer.extension, rendered(answer, name)}};
  std::map<std::string, std::string> files;
  for (auto& [file, text] : renderer.render_files(answer.document)) files.emplace(file, std::move(text));
  return files;
}

std::string page_of(const std::vector<const Answer*>& answers) {
  std::vector<report::Document> documents;
  for (const Answer* answer : answers) documents.push_back(answer->document);
  return report::to_html(documents);
}

}  // namespace

void bind_question(nb::module_& module) {
  nb::class_<Answer>(module, "Answer")
      .def("json", [](const Answer& a) { return report::to_json(a.document); })
      .def("html", [](const Answer& a) { return report::to_html(a.document); })
      .def("text",
           [](const Answer& a, int width) {
             std::ostringstream out;
             report::print(a.document, out, {.colour = false, .width = width});
             return out.str();
           })
      .def("shown", &shown_of, nb::arg("rows"))
      .def("gate", &gate_of, nb::arg("text"))
      .def("render", &rendered, nb::arg("name"))
      .def("render_files", &rendered_files, nb::arg("name"));
  module.def("page", &page_of, nb::arg("answers"));
  module.def("visible", [](const std::string& text) { return visible(text); });
  module.def("commands", &commands);
  module.def(
      "set_program", [](const std::string& file) { frame::set_program(file); }, nb::arg("file"));
  module.def("ask", &asked, nb::arg("command"), nb::arg("flags"), nb::arg("networks"),
             nb::arg("network_folders"), nb::arg("datasets"), nb::arg("folder"), nb::arg("progress").none());
  module.def("component_versions", &frame::component_versions);
  module.def("read_answer", [](const std::string& json, const std::string& name) {
    return Answer{report::read_document(json, name)};
  });
}

}  // namespace assay::python
