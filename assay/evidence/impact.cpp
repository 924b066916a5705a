#include "assay/evidence/impact.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include <assay/error.h>
#include <assay/gate.h>
#include "assay/evidence/requirements.h"
#include "assay/support/files/file.h"
#include "assay/support/text/text.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;
using TextRows = std::vector<std::vector<std::string>>;

// Content hashes of what results are about, by their key in the provenance: "model_hash".
std::map<std::string, std::set<std::string>> subject_hashes(std::span<const StepResult> results) {
  std::map<std::string, std::set<std::string>> hashes;
  for (const StepResult& result : results) {
    for (const auto& [key, value] : result.document.provenance) {
      const auto* const text = std::get_if<std::string>(&value);
      if (key.ends_with("_hash") && text != nullptr && !text->empty()) hashes[key].insert(*text);
    }
  }
  return hashes;
}

std::string listed(const std::set<std::string>& all) {
  return all.empty() ? "-" : joined(std::vector<std::string>(all.begin(), all.end()));
}

const StepResult* step_named(const PackContents& contents, const std::string& name) {
  for (const StepResult& result : contents.results) {
    if (result.step.name == name) return &result;
  }
  return nullptr;
}

void add_changes(Text& text, const PackContents& now, const PackContents& before) {
  text.heading(2, "What changed");
  text.paragraph(
      is_same_network(now, before)
          ? "The network is the same, by its content hash."
          : "The network is another one: its content hash differs. Every figure of it was measured "
            "again or does not hold any more.");
  TextRows rows{{"what", "before", "now", "changed"}};
  const auto add = [&](const std::string& what, const std::string& old, const std::string& fresh) {
    rows.push_back({what, old, fresh, old == fresh ? "no" : "YES"});
  };
  auto old = subject_hashes(before.results), fresh = subject_hashes(now.results);
  std::set<std::string> keys;
  for (const auto& [key, hashes] : old) keys.insert(key);
  for (const auto& [key, hashes] : fresh) keys.insert(key);
  for (const std::string& key : keys) add(key, listed(old[key]), listed(fresh[key]));
  std::map<std::string, std::pair<std::string, std::string>> program;
  for (const auto& [name, version] : before.program) program[name].first = version;
  for (const auto& [name, version] : now.program) program[name].second = version;
  for (const auto& [name, versions] : program) add(name, versions.first, versions.second);
  text.table(std::move(rows));
}

// What became of a gate that was there before, by requirement and text.
std::string effect_of(const Outcome* old, const Outcome* fresh) {
  if (old == nullptr) return fresh->gate.passed ? "new, holds" : "NEW, DOES NOT HOLD";
  if (fresh == nullptr) return "withdrawn";
  if (old->gate.passed == fresh->gate.passed)
    return fresh->gate.passed ? "still holds" : "STILL DOES NOT HOLD";
  return fresh->gate.passed ? "holds now" : "DOES NOT HOLD ANY MORE";
}

void add_requirements_before_and_now(Text& text, const PackContents& now, std::span<const Outcome> outcomes,
                                     const PackContents& before) {
  const std::vector<Outcome> earlier = outcomes_of(before.study, before.results);
  std::map<std::pair<std::string, std::string>, std::pair<const Outcome*, const Outcome*>> gates;
  for (const Outcome& one : earlier)
    gates[{before.study.requirements[one.requirement].id, one.gate.text}].first = &one;
  for (const Outcome& one : outcomes)
    gates[{now.study.requirements[one.requirement].id, one.gate.text}].second = &one;
  text.heading(2, "Requirements");
  TextRows rows{{"id", "gate", "before", "now", "effect"}};
  const auto said = [](const Outcome* one) { return one == nullptr ? "-" : report::outcome_of(one->gate); };
  for (const auto& [name, pair] : gates)
    rows.push_back(
        {name.first, name.second, said(pair.first), said(pair.second), effect_of(pair.first, pair.second)});
  if (rows.size() == 1)
    text.paragraph("Neither study names requirements.");
  else
    text.table(std::move(rows));
}

// Why a step may come out otherwise.
std::string reasons_of(const StepResult& old, const StepResult& fresh, bool same_program) {
  std::vector<std::string> reasons;
  const auto then = subject_hashes(std::span(&old, 1)), today = subject_hashes(std::span(&fresh, 1));
  const auto differs = [&](const std::string& key) {
    const auto a = then.find(key), b = today.find(key);
    return (a == then.end()) != (b == today.end()) || (a != then.end() && a->second != b->second);
  };
  std::set<std::string> keys;
  for (const auto& [key, hashes] : then) keys.insert(key);
  for (const auto& [key, hashes] : today) keys.insert(key);
  if (differs("model_hash")) reasons.emplace_back("another network");
  if (differs("profile_hash")) reasons.emplace_back("another profile");
  keys.erase("model_hash"), keys.erase("profile_hash");
  if (std::ranges::any_of(keys, differs)) reasons.emplace_back("other data");
  if (old.typed != fresh.typed) reasons.emplace_back("another command");
  if (!same_program) reasons.emplace_back("another version of the program");
  return reasons.empty() ? "nothing" : joined(reasons);
}

void add_steps_before_and_now(Text& text, const PackContents& now, const PackContents& before) {
  text.heading(2, "Steps");
  TextRows rows{{"step", "affected by", "before", "now"}};
  for (const StepResult& fresh : now.results) {
    const StepResult* const old = step_named(before, fresh.step.name);
    rows.push_back({fresh.step.name,
                    old == nullptr ? "new" : reasons_of(*old, fresh, now.program == before.program),
                    old == nullptr ? "-" : old->document.headline, fresh.document.headline});
  }
  for (const StepResult& old : before.results) {
    if (step_named(now, old.step.name) == nullptr)
      rows.push_back({old.step.name, "NOT REPEATED", old.document.headline, "-"});
  }
  text.table(std::move(rows));
}

// Real numbers and counts of a result, by name.
std::vector<std::pair<std::string, double>> figures_by_name(const report::Document& document) {
  std::vector<std::pair<std::string, double>> figures;
  for (const report::Fact& fact : document.facts) {
    if (const auto* real = std::get_if<double>(&fact.value)) figures.emplace_back(fact.title, *real);
    if (const auto* count = std::get_if<std::int64_t>(&fact.value))
      figures.emplace_back(fact.title, static_cast<double>(*count));
  }
  for (const report::Measurement& one : report::measurements_of(document)) {
    std::string name = one.criterion;
    if (one.layer != "all") name += ", layer " + one.layer;
    if (!one.class_name.empty()) name += ", class " + one.class_name;
    if (!one.context.empty()) name += ", " + one.context;
    figures.emplace_back(std::move(name), one.value);
  }
  std::erase_if(figures, [](const auto& one) {
    return one.first.starts_with("second") || one.first.find("per second") != std::string::npos;
  });
  return figures;
}

void add_figures_before_and_now(Text& text, const PackContents& now, const PackContents& before) {
  text.heading(2, "Figures");
  TextRows rows{{"step", "figure", "before", "now", "difference"}};
  std::size_t same = 0;
  for (const StepResult& fresh : now.results) {
    const StepResult* const old = step_named(before, fresh.step.name);
    if (old == nullptr) continue;
    std::map<std::string, double> earlier;
    for (const auto& [name, value] : figures_by_name(old->document)) earlier.emplace(name, value);
    for (const auto& [name, value] : figures_by_name(fresh.document)) {
      const auto was = earlier.find(name);
      if (was != earlier.end() && was->second == value) {
        ++same;
        continue;
      }
      rows.push_back({fresh.step.name, name, was == earlier.end() ? "-" : fmt::format("{:.6g}", was->second),
                      fmt::format("{:.6g}", value),
                      was == earlier.end() ? "new" : fmt::format("{:+.6g}", value - was->second)});
    }
  }
  text.paragraph(fmt::format("Figures that came out the same: {} (not listed); that differ: {}.", same,
                             rows.size() - 1));
  if (rows.size() > 1) text.table(std::move(rows));
}

void add_open_work(Text& text, const PackContents& now, const PackContents& before) {
  std::vector<std::string> open;
  const bool same = is_same_network(now, before);
  for (const StepResult& old : before.results) {
    if (step_named(now, old.step.name) == nullptr)
      open.push_back(fmt::format("Step {} ({}) was not repeated{}.", old.step.name, old.step.command,
                                 same ? "" : "; what it found was of the former network"));
  }
  const auto is_carried_over = [&](const Approval& one) {
    return std::ranges::any_of(before.study.approvals, [&](const Approval& old) {
      return old.name == one.name && old.role == one.role && old.date == one.date;
    });
  };
  for (const Approval& one : now.study.approvals) {
    if (!same && is_carried_over(one))
      open.push_back(
          fmt::format("{} decided on {} about the former network, and not again.", one.name, one.date));
  }
  text.heading(2, "What is left to do");
  if (open.empty())
    text.paragraph("Every step of the former pack was repeated.");
  else
    text.list(std::move(open));
}

}  // namespace

std::unique_ptr<OpenedPack> open_former(const fs::path& former) {
  if (former.empty()) return nullptr;
  auto opened = std::make_unique<OpenedPack>(former);
  const Manifest manifest = read_manifest(opened->folder());
  std::vector<std::string> different = differences(manifest, opened->folder());
  if (!manifest.tells_report) different.emplace_back("its manifest does not name its requirements");
  if (!different.empty())
    fail(Fault::data, "{} is not as it was made: {}; name a pack that `assay verify` accepts",
         former.string(), different.front());
  return opened;
}

void copy_former(const OpenedPack* former, const fs::path& pack) {
  fs::remove_all(pack / former_folder);
  if (former == nullptr) return;
  const auto copy = [&](const std::string& path) {
    write_file(pack / former_folder / path, read_file(former->folder() / path));
  };
  copy(manifest_name);
  for (const ManifestStep& step : read_manifest(former->folder()).steps) copy(step.file);
}

std::shared_ptr<const PackContents> former_of(const fs::path& pack) {
  const fs::path folder = pack / former_folder;
  if (!fs::is_regular_file(fs::symlink_status(folder / manifest_name))) return nullptr;
  return std::make_shared<const PackContents>(contents_of(read_manifest(folder), folder));
}

bool is_same_network(const PackContents& one, const PackContents& other) {
  const auto network = [](const PackContents& contents) {
    std::set<std::string> hashes;
    for (const auto& [key, values] : subject_hashes(contents.results))
      if (key == "model_hash") hashes = values;
    return hashes;
  };
  return network(one) == network(other);
}

Text impact_text(const PackContents& contents, std::span<const Outcome> outcomes) {
  const PackContents& before = *contents.former;
  Text text;
  text.heading(1, "Change impact");
  text.paragraph(fmt::format("Document {}, made {}, against {}, made {} ({}).", document_id(contents),
                             contents.created, document_id(before), before.created, before.study.title));
  text.contents();
  add_changes(text, contents, before);
  add_requirements_before_and_now(text, contents, outcomes, before);
  add_steps_before_and_now(text, contents, before);
  add_figures_before_and_now(text, contents, before);
  add_open_work(text, contents, before);
  return text;
}

}  // namespace assay::evidence
