#pragma once

// One member of a catalogue on a page of its own.

#include <span>
#include <string>

#include "apps/assay/command.h"
#include "assay/support/spec.h"

namespace assay::app {

// Headline "TITLE: SUMMARY", a table of the options, definition and limits. `Info`: an entry with summary, definition, limits and
// paper; `page`: the documentation where it stands.
template <typename Info>
Document explained(const std::string& title, const Info& info, std::span<const SpecOption> options, const std::string& page) {
  Document document;
  document.headline = title + ": " + info.summary;
  Table table{"options", "Options", {{"option", "option"}, {"fallback", "default"}, {"summary", "what it does"}}, {}, false};
  for (const SpecOption& option : options) table.rows.push_back({option.name, option.fallback.empty() ? Cell() : Cell(option.fallback), option.summary});
  if (!table.rows.empty()) document.tables = {std::move(table)};
  document.definitions = {{"definition", info.definition, info.paper}, {"limits", info.limits, page}};
  return document;
}

}  // namespace assay::app
