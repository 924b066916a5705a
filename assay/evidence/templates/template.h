#pragma once

// What a standard, law or authority asks for, item by item, so that a pack can say which of it it evidences
// (docs/evidence.md). An entry is a file of this folder and a line in catalogue.cpp.

#include <string>
#include <vector>

#include <assay/extend/catalogue.h>

namespace assay::evidence {

// What evidences an item. Of `steps`, `tables` and `figures` together one is enough; `parts` have to be there
// all. Nothing at all: no pack evidences it.
struct Source {
  std::vector<std::string> steps = {};    // commands: "mutate"
  std::vector<std::string> tables = {};   // of results, with rows: "groups"
  std::vector<std::string> figures = {};  // that gates of requirements are on, without options: "accuracy"
  std::vector<std::string> parts = {};    // of the pack (pack_parts())
};

struct Item {
  std::string clause, asks;  // "2(g)", "test reports dated and signed by the responsible persons"
  Source source = {};
  std::string group = {};  // where a template has stages: "Model learning"
};

struct Template {
  std::string name, title;  // also the name of its file: "eu-ai-act", "EU AI Act, Annex IV"
  std::string scope;        // what it is about, in a sentence
  std::vector<Item> items;
};

Catalogue<Template>& templates();

}  // namespace assay::evidence
