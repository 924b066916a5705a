#include "apps/assay/extensions.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/attack/run.h"
#include "assay/support/error.h"

namespace assay::app {
namespace {

namespace fs = std::filesystem;

// A measure without a greatest value is no share, so it stands as text.
Cell shown(const Coverage& coverage) {
  if (coverage.coverable.empty()) return fmt::format("{:.4g}", coverage.value);
  return coverage.value;
}

// Layer by layer for criteria whose layers do not add up, otherwise all layers together.
std::vector<Coverage> summary_of(const Criterion& criterion) {
  std::vector<Coverage> rows = criterion.result();
  const auto all = std::ranges::find(rows, "all", &Coverage::layer);
  if (all != rows.end()) return {*all};
  return rows;
}

Table table_of(const CoverageState& state) {
  Table table{"extensions", "Coverage of the test set, and extended by each attack", {{"criterion", "criterion"}, {"layer", "layer"}, {"test", "test set", Column::Kind::percent}}, {}, false};
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    for (const Coverage& coverage : summary_of(*state.total(c))) table.rows.push_back({state.specs()[c].text(), coverage.layer, shown(coverage)});
  }
  return table;
}

// One more column: both sets together.
void add_column(Table& table, const CoverageState& state, const CoverageState& attacked, const std::string& name) {
  table.columns.push_back({name, "+ " + name, Column::Kind::percent});
  auto row = table.rows.begin();
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const auto both = state.total(c);
    both->merge(*attacked.total(c));
    for (const Coverage& coverage : summary_of(*both)) (row++)->push_back(shown(coverage));
  }
}

// The attacks that the flag names; the name of a preset stands for all of its attacks.
std::vector<Spec> specs_of(const std::string& text) {
  std::vector<Spec> specs;
  for (const std::string& part : split_specs(text)) {
    const auto preset = std::ranges::find(attack_presets(), part, &AttackPreset::name);
    if (preset == attack_presets().end()) specs.push_back(parse_spec("attack", part));
    else std::ranges::transform(preset->attacks, std::back_inserter(specs), [](const std::string& attack) { return parse_spec("attack", attack); });
  }
  return specs;
}

}  // namespace

fs::path journal_of(const fs::path& file) { return file.string() + ".journal"; }

std::vector<std::string> split_specs(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) parts.emplace_back();
    else parts.back() += c;
  }
  return parts;
}

void Extensions::declare(CLI::App& app) {
  app.add_option("--extend-with", attacks_, "attack all test records and show the coverage of the test set extended by each kind: fgsm,bim,'pgd[eps=0.1,steps=5]', or a preset: deepimportance (`assay attacks` lists all)")
      ->type_name("SPEC,...");
  app.add_option("--extensions", folder_, "folder for the attacked records")->type_name("FOLDER")->capture_default_str();
}

void Extensions::check() const {
  if (attacks_.empty()) return;
  for (const Spec& spec : specs_of(attacks_)) make_attack(spec);
}

void Extensions::measure(const Session& session, const std::shared_ptr<const Profile>& profile, const CoverageState& state, DatasetPtr test,
                         Context& context, Document& document) const {
  if (attacks_.empty()) return;
  Table table = table_of(state);
  std::vector<std::string> taken;
  std::vector<fs::path> files;
  for (const Spec& spec : specs_of(attacks_)) {
    const auto earlier = std::ranges::count(taken, spec.name);
    taken.push_back(spec.name);
    const std::string name = earlier == 0 ? spec.name : fmt::format("{}-{}", spec.name, earlier + 1);
    const fs::path file = fs::path(folder_) / (name + ".npz");
    const AttackOptions options{.batch = context.settings.batch, .seed = context.settings.seed, .all = true, .journal = journal_of(file)};
    const AttackSummary made = attack_dataset(session, test, spec, file, options, context.progress);
    files.push_back(file);
    CoverageState attacked(profile, state.specs(), false);
    if (made.stored > 0) {
      assay::measure(session, attacked, open_dataset(made.data), {.context = name, .batch = context.settings.batch}, context.progress);
    }
    add_column(table, state, attacked, name);
    document.definitions.push_back({"+ " + name, fmt::format("the test set and {} records made from it by {}", made.stored, made.spec.text()), find_attack(spec.name).paper});
  }
  for (const fs::path& file : files) fs::remove(journal_of(file));
  document.tables.insert(document.tables.begin(), std::move(table));
}

}  // namespace assay::app
