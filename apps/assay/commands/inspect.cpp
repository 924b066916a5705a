// assay inspect: what the units of a network have learned.

#include <set>

#include <assay/error.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "assay/answers/networks/inspection.h"
#include "assay/inspection/statistics/resampling.h"
#include "assay/support/ascii.h"
#include "assay/support/files/input_file.h"

namespace assay::app {
namespace {

// A question in SQL stands where a network or data could: its first word tells.
std::string no_question(const std::string& text) {
  static const std::set<std::string> verbs{"ALTER",   "ANALYZE", "CREATE", "DELETE",  "DROP",
                                           "EXPLAIN", "INSERT",  "PRAGMA", "REPLACE", "SELECT",
                                           "UPDATE",  "VALUES",  "WITH"};
  const std::string word = upper_case(text.substr(0, text.find_first_of(" \t\n(")));
  return word.size() < text.size() && verbs.contains(word) ? "is a question in SQL" : "";
}

class Inspect final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take_those_of_networks();
    flags.take({Shared::seed});
    flags.naming(Concept::network)
        .add("model,--model FILE", question_.models,
             "network, NAME=FILE or NAME=FILE,epoch=3 with attributes of your own; may be repeated: epochs, "
             "a trained and an untrained one, ...",
             CLI::Validator(no_question, ""))
        ->allow_extra_args(false);
    adaptation_.declare(flags);
    adaptation_.declare_views(flags);
    data_.declare(flags, true)->check(CLI::Validator(no_question, ""));
    flags.skip_other_words();
    flags.naming(Concept::input)
        .add("--units SPEC", question_.units,
             "units that are inspected together: layer=lstm, layer=lstm,gate=forget or "
             "layer=fc1,units=0-15+20, of all networks or of model=NAME; may be repeated (default: each "
             "layer with weights)")
        ->allow_extra_args(false);
    flags.add("--behaviour", question_.behaviour,
              "what is looked at: activations, their change since the symbol before, or the gradient of the "
              "decision",
              CLI::IsMember({"activation", "change", "gradient"}));
    flags.naming(Concept::input)
        .add_list(
            "--hypotheses SPEC,...", question_.hypotheses,
            "what units may have learned: sql.grammar, label, 'regex[...]', ...; may be repeated (`assay "
            "hypotheses` lists all)")
        ->allow_extra_args(false);
    flags.add_list("--measure SPEC,...", question_.measures,
                   "how they are compared: pearson,logistic_l1 (`assay measures` lists all)");
    flags.naming(Concept::input)
        .add("--vocabulary FILE", question_.vocabulary,
             "what tokens mean: FILE.npz:ARRAY of character codes, a text file of one symbol a line, .json, "
             "or "
             "a tokenizer.json (default: the tokenizer that made them, or that of the network's folder)");
    flags.add("--padding SYMBOL", question_.padding, "symbol or token that fills records up; it is left out");
    flags.add("--align", question_.align,
              "which positions are rows if units and hypothesis have different ones: those of the "
              "hypothesis, those of the units, or one row a record",
              CLI::IsMember({"hypothesis", "units", "record"}));
    flags.add("--reduce", question_.reduce, "how several positions become one row a record",
              CLI::IsMember({"automatic", "mean", "max", "last"}));
    flags.add("--tolerance", question_.options.tolerance,
              "half a confidence interval at which a score has converged; 0: what the measure takes",
              CLI::NonNegativeNumber);
    flags.add("--no-early-stop", no_early_stop_, "read all records, even when all has converged");
    flags.add(
        "--block", question_.options.block,
        "records between two checks of what has converged; the first such block gives thresholds and ranks",
        CLI::Range(1, 1 << 24));
    flags.add("--permutations", question_.options.permutations, "permutations of records, for p values",
              CLI::Range(std::size_t{0}, inspection::most_resamples));
    flags.add("--bootstrap", question_.options.bootstrap,
              "replicates of a bootstrap over records, for intervals",
              CLI::Range(std::size_t{0}, inspection::most_resamples));
    flags.add(
        "--documents COLUMN", question_.options.documents,
        "characteristic (meta= of the data) that names the document of a record: records of one are held "
        "out, and drawn for intervals, together (default: each record is a document)");
    flags.add("--confidence", question_.options.confidence, "of intervals", CLI::Range(0.5, 0.9999));
    flags.add("--top", question_.detail.top, "best units listed for each hypothesis and measure",
              CLI::Range(1, 100'000));
    flags.add("--verify", question_.verified,
              "verify this many of the strongest affinities by swapping symbols; needs a vocabulary",
              CLI::Range(0, 1000));
    swaps_ = flags.add("--swaps", question_.verification.swaps,
                       "swaps of each kind, to verify an affinity by", CLI::Range(2, 100'000));
    flags.add_output("--scores FILE", question_.scores, "write all scores to FILE.csv");
    shard_.declare(flags);
    flags.naming(Concept::state)
        .add_output("--state FILE", question_.state,
                    "write what was seen to FILE; an interrupted run goes on from FILE.journal",
                    {.journal = frame::journal_beside});
    journal_every_ =
        flags.of_the_run().add("--journal-every", question_.options.journal_seconds,
                               "seconds between two entries of the journal", CLI::NonNegativeNumber);
    flags.add_output("--cache FOLDER", cache_, "folder that keeps behaviours of hypotheses for other runs",
                     {.members = {"*.behaviours"}});
    declare_database(flags.in_group("Questions"));
  }

  report::Document run(Context& context) override {
    require_kept("--state", question_.state);
    const answers::DatabaseQuestion& database = question_.database;
    const bool asks = !database.sql.empty() || !database.sql_file.empty() || !database.documents.empty();
    if (!database.sql.empty() && !database.sql_file.empty())
      refuse("--sql and --sql-file are two questions; give one of them");
    if (database.sql.empty() && database.sql_file.empty())
      refuse_without_effect({time_}, "without a question in SQL");
    if (question_.verified == 0) refuse_without_effect({swaps_}, of_flags("without --verify"));
    if (question_.state.empty() && database.file.empty())
      refuse_without_effect({journal_every_}, of_flags("without --state or --db: no journal is kept"));
    question_.data = asks ? data_.open_if_given() : data_.open();
    question_.data_spec = data_.spec();
    question_.adaptation = adaptation_.options();
    if (!asks && question_.models.empty())
      refuse("which network? give --model FILE (or model = \"FILE\" in assay.toml)");
    question_.options.stop_early = !no_early_stop_;
    question_.options.cache = cache_;
    question_.shard = shard_.text();
    std::tie(question_.options.shard, question_.options.shards) = shard_.part(context);
    const answers::Setting setting = setting_of(context);
    return asks ? answers::ask_database(question_, setting, context.progress)
                : told_alone(answers::inspect(question_, setting, context.progress), context);
  }

 private:
  // Queries to the workbench (docs/inspect-sql.md).
  void declare_database(Flags flags) {
    flags.add("sql,--sql QUERY", question_.database.sql,
              "question in SQL, with the INSPECT clause; EXPLAIN INSPECT shows the plan");
    flags.naming(Concept::input)
        .add("--sql-file FILE", question_.database.sql_file, "file that holds the question");
    time_ = flags
                .add("--time SECONDS", question_.database.seconds,
                     "end a question in SQL that takes longer, with exit code 8", CLI::NonNegativeNumber)
                ->default_str("");
    flags.add_output(
        "--db FILE.db", question_.database.file,
        "database that keeps networks, records, hypotheses, scores and results for later questions",
        {.when = [] { return false; }});
    flags.naming(Concept::input)
        .add(
            "--add FILE.json", question_.database.documents,
            "put a result that any command wrote with --json into the database; NAME=FILE calls it NAME; may "
            "be repeated")
        ->allow_extra_args(false);
  }

  ShardInput shard_{
      "inspect only this part of the records: 2/8, or auto for the one that the scheduler names, for `assay "
      "combine`"};
  Adaptation adaptation_;
  DataInput data_{"data", "records that are inspected", Concept::test_data};
  std::string cache_;
  bool no_early_stop_ = false;
  const CLI::Option *swaps_ = nullptr, *journal_every_ = nullptr, *time_ = nullptr;
  answers::InspectionQuestion question_;
};

}  // namespace

CommandInfo inspect_command() {
  return {"inspect", "which units of a network behave like which hypotheses",
          "  assay inspect sql.onnx sql.npz,part=test --vocabulary sql.npz:vocab --units layer=lstm "
          "--hypotheses sql.grammar --measure pearson,logistic_l1\n"
          "  assay inspect lenet5.onnx t10k-images-idx3-ubyte.gz --hypotheses label\n"
          "  assay inspect --model before=epoch1.onnx --model after=epoch9.onnx --data test.npz --units "
          "layer=-2 --hypotheses label --measure logistic_l2 --scores all.csv\n"
          "  assay inspect lenet5.onnx test.npz --hypotheses label --db study.db --sql \"SELECT S.uid, "
          "S.unit_score INSPECT U.uid AND H.h USING corr OVER D.seq AS S FROM units U, hypotheses H, inputs "
          "D WHERE H.name = 'label:3' ORDER BY S.unit_score DESC LIMIT 5\"\n"
          "  assay inspect --db study.db --add importance.json --add cover.json",
          make_command<Inspect>, explain_group};
}

}  // namespace assay::app
