// Annotations of records by the user's program.

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include <assay/progress.h>
#include "assay/inspection/symbols/text.h"
#include "assay/support/child_process.h"
#include "assay/support/conditions.h"
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"

namespace assay::inspection {
namespace {

using Json = nlohmann::json;

std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

class Program final : public Annotator {
 public:
  explicit Program(const AnnotatorSetup& setup)
      : command_(setup.options.text("command")),
        input_(setup.options.word("input", inputs)),
        timeout_(setup.options.number("timeout", 0)) {
    if (command_.empty())
      fail(Fault::usage, "hypothesis 'program' needs a command: program[command=./tagger]");
    const std::string& wanted = setup.options.word("kind", kinds);
    const std::vector<std::string> classes = setup.options.words("classes");
    hypotheses_.push_back({setup.options.text("name"),
                           wanted == "binary"    ? BehaviourKind::binary
                           : wanted == "numeric" ? BehaviourKind::numeric
                                                 : BehaviourKind::categorical,
                           wanted == "categorical" ? classes : std::vector<std::string>{}});
    Hasher hasher;
    hasher.text(command_).text(input_).text(wanted).text(setup.options.text("version"));
    const std::string file = command_.substr(0, command_.find(' '));
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) hasher.text(hash_hex(read_file(file)));
    version_ = hasher.hex();
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return version_; }

  Behaviours annotate(const RecordBlock& records) const override {
    std::string input;
    for (std::size_t r = 0; r < records.size(); ++r) input += line_of(records, r);
    const ChildResult result =
        run_child(command_, input, {.silence = timeout_, .stop = interrupt_is_requested});
    if (result.stopped) check_interrupt();
    Behaviours behaviours;
    std::size_t answers = 0, at = 0;
    for (; answers < records.size() && at < result.output.size(); ++answers) {
      const std::size_t end = result.output.find('\n', at);
      if (end == std::string::npos && failed(result)) break;  // cut off
      take(behaviours, records, answers, result.output.substr(at, std::min(end, result.output.size()) - at));
      at = end == std::string::npos ? result.output.size() : end + 1;
    }
    if (answers < records.size() || failed(result))
      complain(records, std::min(answers, records.size() - 1), result);
    if (at < result.output.size())
      refuse(records, records.size() - 1, "there are more lines of output than records");
    return behaviours;
  }

 private:
  static bool failed(const ChildResult& result) {
    return result.timed_out || result.exit_code != 0 || result.signal != 0;
  }

  // A record as JSON: its text, its symbols, or the numbers that a network takes.
  std::string line_of(const RecordBlock& records, std::size_t r) const {
    const bool numbers = input_ == "numbers" || (input_ == "auto" && records.texts.empty());
    if (numbers) {
      const Array values = records.batch.inputs.to(DType::float64);
      const std::size_t width = static_cast<std::size_t>(values.count()) / records.size();
      const std::span<const double> row = values.as<double>().subspan(r * width, width);
      if (records.batch.inputs.dtype() == DType::int64)
        return one_line(std::vector<std::int64_t>(row.begin(), row.end()));
      return one_line(std::vector<double>(row.begin(), row.end()));
    }
    symbols_of(records, "program");
    const RecordText& record = records.texts[r];
    if (input_ != "symbols") return one_line(record.text);
    Json symbols = Json::array();
    for (std::size_t k = 0; k + 1 < record.begins.size(); ++k)
      symbols.push_back(record.text.substr(record.begins[k], record.begins[k + 1] - record.begins[k]));
    return one_line(symbols);
  }

  void take(Behaviours& behaviours, const RecordBlock& records, std::size_t r,
            const std::string& line) const {
    const Json answer = Json::parse(line, nullptr, false);
    const bool many = answer.is_array();
    Shape positions;
    if (many) positions.push_back(answer.size());
    const std::size_t symbols = records.texts.empty() ? answer.size() : records.texts[r].begins.size() - 1;
    if (many && answer.size() != symbols)
      refuse(records, r, fmt::format("{} values for {} symbols", answer.size(), symbols));
    if (r == 0) {
      behaviours.positions = std::move(positions);
    } else if (positions != behaviours.positions) {
      refuse(records, r,
             fmt::format("values at positions {}, but {} for the records before", to_string(positions),
                         to_string(behaviours.positions)));
    }
    const auto add = [&](const Json& value) {
      if (!value.is_null() && !value.is_number())
        refuse(records, r,
               fmt::format("'{}' is not a number, null, or a JSON list of these", line.substr(0, 60)));
      behaviours.values.push_back(value.is_null() ? std::numeric_limits<float>::quiet_NaN()
                                                  : value.get<float>());
    };
    if (many) {
      for (const Json& value : answer) add(value);
    } else {
      add(answer);
    }
  }

  [[noreturn]] void refuse(const RecordBlock& records, std::size_t r, const std::string& why) const {
    fail(Fault::data, "hypothesis '{}', record '{}': '{}' gives {}", hypotheses_[0].name,
         records.dataset.id(records.batch.indices[r]), command_, why);
  }
  [[noreturn]] void complain(const RecordBlock& records, std::size_t r, const ChildResult& result) const {
    const std::string why = result.timed_out ? fmt::format("does nothing for {} s (option timeout)", timeout_)
                            : result.signal != 0    ? fmt::format("was ended by signal {}", result.signal)
                            : result.exit_code != 0 ? fmt::format("ended with exit code {}", result.exit_code)
                                                    : "ended without an answer for it";
    const std::string said = trimmed_line(result.errors);
    fail(Fault::data, "hypothesis '{}', record '{}': '{}' {}{}{}", hypotheses_[0].name,
         records.dataset.id(records.batch.indices[r]), command_, why,
         said.empty() ? "" : "; it says: ", said);
  }

  static inline const std::vector<std::string> inputs{"auto", "text", "symbols", "numbers"},
      kinds{"binary", "categorical", "numeric"};
  std::string command_, input_, version_;
  double timeout_;
  std::vector<Hypothesis> hypotheses_;
};

}  // namespace

AnnotatorInfo program_annotator() {
  return {.name = "program",
          .summary = "what your own program says of records, one line each",
          .definition =
              "the command runs in a shell for each block of records. It reads a record a line, as JSON: a "
              "string "
              "(input=text), a list of symbols (symbols) or a list of the numbers that a network takes "
              "(numbers). It "
              "writes a line for each: a number, or a list of as many numbers as there are symbols; null is "
              "don't-care",
          .limits =
              "the same record must always have the same answer: answers are kept until the command, the "
              "file that it "
              "names first, or the option version changes. A program that fails, hangs or writes something "
              "else ends "
              "the inspection",
          .paper = "Sellam et al., SIGMOD 2019",
          .options = {{"command", "", "what the shell runs"},
                      {"kind", "numeric", "binary, categorical or numeric"},
                      {"classes", "", "of a categorical one: what codes from 0 mean, joined by +"},
                      {"input", "auto", "text, symbols, numbers, or auto: text where there is a vocabulary"},
                      {"timeout", "60",
                       "seconds in which it neither reads nor writes, before it is ended; 0: never"},
                      {"version", "", "change it when the program says something else than before"},
                      {"name", "program", "what results call it"}},
          .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
            return std::make_unique<Program>(setup);
          }};
}

}  // namespace assay::inspection
