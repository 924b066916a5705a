// assay attack: inputs that break a network.

#include <fmt/format.h>

#include <set>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/extensions.h"
#include "apps/assay/heat_map.h"
#include "apps/assay/inputs.h"
#include "apps/assay/triples.h"
#include "assay/attack/run.h"
#include "assay/support/error.h"

namespace assay::app {
namespace {

using Kind = Column::Kind;

Table summary_table(const std::vector<AttackSummary>& summaries) {
  Table table{"attacks", "Attacks",
              {{"attack", "attack"}, {"records", "records", Kind::count}, {"successes", "successes", Kind::count}, {"success", "success rate", Kind::percent},
               {"l0", "mean L0", Kind::number, 1}, {"l2", "mean L2", Kind::number, 3}, {"linf", "mean Linf", Kind::number, 3},
               {"forward", "forward passes", Kind::number, 1}, {"backward", "backward passes", Kind::number, 1},
               {"seconds", "seconds", Kind::number, 2}, {"file", "file"}}, {}, false};
  for (const AttackSummary& s : summaries) {
    const auto of_successes = [&](double value) { return s.succeeded > 0 ? Cell(value) : Cell(); };
    table.rows.push_back({s.spec.text(), static_cast<std::int64_t>(s.attacked), static_cast<std::int64_t>(s.succeeded),
                          s.attacked > 0 ? Cell(static_cast<double>(s.succeeded) / static_cast<double>(s.attacked)) : Cell(),
                          of_successes(s.l0), of_successes(s.l2), of_successes(s.linf), s.forward, s.backward, s.seconds, s.data});
  }
  return table;
}

// Up to `count` records of an attack beside what they were: successes, or where there are none the others.
void draw(Document& document, const Dataset& data, const AttackSummary& summary, std::size_t count, const std::filesystem::path& folder) {
  std::vector<std::size_t> rows, originals;
  for (std::size_t row = 0; row < summary.records.size() && rows.size() < count; ++row) {
    if (summary.records[row].success || summary.succeeded == 0) rows.push_back(row);
  }
  if (rows.empty()) return;
  for (const std::size_t row : rows) originals.push_back(summary.records[row].original);
  const Batch before = data.read(originals), after = open_dataset(summary.data)->read(rows);
  const auto from = before.inputs.as<float>(), to = after.inputs.as<float>();
  const std::size_t size = from.size() / rows.size();
  const std::vector<std::string> names = data.class_names();
  std::vector<ChangedRecord> records;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const AdversarialSet::Record& record = summary.records[rows[i]];
    const auto name = [&](std::int64_t c) { return static_cast<std::size_t>(c) < names.size() ? names[static_cast<std::size_t>(c)] : std::to_string(c); };
    const std::string outcome = data.target_width() > 0 ? record.success ? "the output moves" : "the output stays"
        : data.has_labels() ? fmt::format("{} is taken for {}", name(data.label(record.original)), name(record.predicted))
                            : fmt::format("is taken for {}", name(record.predicted));
    records.push_back({from.subspan(i * size, size), to.subspan(i * size, size),
                       fmt::format("{}, record '{}': {}, L2 {:.3g}", summary.spec.name, data.id(record.original), outcome, record.l2)});
  }
  for (Picture& picture : draw_triples(data, records, folder, summary.file.stem().string())) document.pictures.push_back(std::move(picture));
}

class AttackCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    model_.declare(app, true);
    data_.declare(app, true);
    app.add_option("--attack", attacks_, "attack with options, such as pgd[eps=0.1,starts=5]; may be repeated (`assay attacks` lists all)")->type_name("SPEC");
    app.add_option("--preset", preset_, "attacks and options of a paper: deepimportance")->type_name("NAME");
    app.add_option("--output", output_, "folder for the attacked records, one .npz per attack")->type_name("FOLDER")->capture_default_str();
    app.add_flag("--all", options_.all, "attack also records that the network gets wrong; they are to leave the class that it names");
    app.add_flag("--only-successful", options_.only_successful, "store only records that succeed");
    app.add_flag("--levels", options_.levels, "store 8-bit levels of the valid range, as pictures have them; success is judged after rounding");
    app.add_option("--pictures", pictures_, "draw so many records of each attack: before, after, difference (records of pictures only)")->check(CLI::Range(0, 1000))->capture_default_str();
    app.add_option("--margin", options_.margin, "regression: an output that moves by more than this is a success")->check(CLI::PositiveNumber)->capture_default_str();
    check_.declare(app);
  }

  Document run(Context& context) override {
    const DatasetPtr data = data_.open();
    const Session session = model_.open(context, data.get());
    const std::vector<Spec> specs = chosen_specs();
    options_.batch = context.settings.batch;
    options_.seed = context.settings.seed;
    Document document;
    if (check_.expects()) check_.run(session, data, context, document);
    std::vector<AttackSummary> summaries;
    std::set<std::string> taken;
    for (const Spec& spec : specs) {
      std::string name = spec.name;
      for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}-{}", spec.name, i);
      const std::filesystem::path file = std::filesystem::path(output_) / (name + ".npz");
      options_.journal = journal_of(file);
      summaries.push_back(attack_dataset(session, data, spec, file, options_, context.progress));
    }
    for (const AttackSummary& summary : summaries) std::filesystem::remove(journal_of(summary.file));
    describe(document, session, *data, summaries);
    for (const AttackSummary& summary : summaries) {
      if (is_picture(*data)) draw(document, *data, summary, pictures_, output_);
    }
    add_provenance(document, session, {{"data", data}});
    return document;
  }

 private:
  std::vector<Spec> chosen_specs() const {
    std::vector<Spec> specs;
    if (!preset_.empty()) {
      for (const std::string& text : find_attack_preset(preset_).attacks) specs.push_back(parse_spec("attack", text));
    }
    for (const std::string& text : attacks_) specs.push_back(parse_spec("attack", text));
    if (specs.empty()) fail(Fault::usage, "which attack? give --attack NAME[option=value,...] or --preset NAME; `assay attacks` lists them");
    for (const Spec& spec : specs) make_attack(spec);  // wrong options show before any work
    return specs;
  }

  void describe(Document& document, const Session& session, const Dataset& data, const std::vector<AttackSummary>& summaries) const {
    document.facts.push_back({"records", "records", static_cast<std::int64_t>(data.size()), Kind::count});
    document.facts.push_back({"attacked", options_.all ? "of them attacked" : "of them attacked (the network is right)",
                              static_cast<std::int64_t>(summaries.front().attacked), Kind::count});
    document.headline = fmt::format("{} on {}:", session.graph().name(), data.describe());
    Table endings{"endings", "Searches that ended without success", {{"attack", "attack"}, {"ending", "ending"}, {"records", "records", Kind::count}}, {}, false};
    for (const AttackSummary& s : summaries) {
      const double rate = s.attacked > 0 ? static_cast<double>(s.succeeded) / static_cast<double>(s.attacked) : 0;
      document.headline += fmt::format("{} {} {}", &s == &summaries.front() ? "" : ",", s.spec.name, percent(rate));
      for (const auto& [ending, records] : s.endings) endings.rows.push_back({s.spec.text(), ending, static_cast<std::int64_t>(records)});
      if (s.lost > 0) {
        document.notices.push_back(fmt::format("{}: {} of the successes found are none any more once stored{}", s.spec.name, s.lost,
                                               options_.levels ? " as 8-bit levels" : ""));
      }
      if (s.attacked == 0) document.notices.push_back(fmt::format("{}: there was nothing to attack, the network is wrong on every record; --all attacks these too", s.spec.name));
      const AttackInfo& info = find_attack(s.spec.name);
      document.definitions.push_back({info.name, info.definition, info.paper});
    }
    document.tables = {summary_table(summaries)};
    if (!endings.rows.empty()) document.tables.push_back(std::move(endings));
    document.definitions.push_back({"success", session_meaning(data), "docs/algorithms/attacks.md"});
  }

  std::string session_meaning(const Dataset& data) const {
    const std::string after = "judged on the record as read back from its file";
    if (data.target_width() > 0) return fmt::format("the output moved by more than {}, {}", options_.margin, after);
    return "the network names another class than before (with a target: the target), " + after;
  }

  ModelInput model_;
  DataInput data_{"data", "records to attack; a valid range must be known (8-bit images know theirs, others say range=0:1)"};
  AccuracyCheck check_;
  std::vector<std::string> attacks_;
  std::string preset_, output_ = "assay-attack";
  std::size_t pictures_ = 4;
  AttackOptions options_;
};

}  // namespace

CommandInfo attack_command() {
  return {"attack", "records changed so that the network gets them wrong: adversarial attacks, noise, natural corruptions",
          "  assay attack net.onnx test.npz,range=0:1 --attack 'fgsm[eps=0.1]' --attack 'pgd[eps=0.1,starts=3]' --output attacked\n"
          "  assay attack lenet5.onnx t10k-images-idx3-ubyte.gz --preset deepimportance --levels",
          make_command<AttackCommand>};
}

}  // namespace assay::app
