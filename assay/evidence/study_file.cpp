#include "assay/evidence/study_file.h"

#include <fmt/format.h>

#include <map>

#include <assay/error.h>
#include "assay/evidence/approvals.h"
#include "assay/support/files/toml_file.h"
#include "assay/support/text/text.h"

namespace assay::evidence {
namespace {

class StudyReader {
 public:
  explicit StudyReader(const std::filesystem::path& file) : file_(file), table_(read_configuration(file)) {}

  StudyFile read() const {
    StudyFile result;
    for (const auto& [command, node] : table_) {
      const toml::table* table = node.as_table();
      if (table == nullptr) continue;
      for (const auto& [key, value] : *table) result.given.emplace(command.str(), key.str());
    }
    read_approvals(result.study.approvals);
    const toml::table* evidence = table_["evidence"].as_table();
    if (evidence == nullptr) return result;
    for (const toml::table* table : tables(*evidence, "step")) result.study.steps.push_back(step_of(*table));
    for (const toml::table* table : tables(*evidence, "requirement"))
      result.study.requirements.push_back(requirement_of(*table));
    return result;
  }

 private:
  [[noreturn]] void refuse(const toml::node& node, const std::string& fault) const {
    fail(Fault::usage, "{}: {}", place_in(file_, node), fault);
  }

  std::vector<const toml::table*> tables(const toml::table& evidence, std::string_view name) const {
    std::vector<const toml::table*> found;
    const toml::node* node = evidence.get(name);
    if (node == nullptr) return found;
    if (!node->is_array_of_tables()) refuse(*node, fmt::format("write [[evidence.{}]] for each", name));
    for (const toml::node& one : *node->as_array()) found.push_back(one.as_table());
    return found;
  }

  std::string text_of(const toml::node& node) const { return assay::text_of(file_, node); }
  std::vector<std::string> texts_of(const toml::node& node) const { return assay::texts_of(file_, node); }

  Step step_of(const toml::table& table) const {
    Step step;
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (name == "name")
        step.name = text_of(node);
      else if (name == "command")
        step.command = text_of(node);
      else if (name == "result")
        step.collected = text_of(node);
      else
        add_flag(step.arguments, name, node);
    }
    if (step.command.empty() == step.collected.empty())
      refuse(table, "a step has either a command to run or a result to collect");
    if (step.name.empty()) step.name = step.command;
    if (step.name.empty()) refuse(table, "a step that is collected needs a name");
    return step;
  }

  void add_flag(std::vector<std::string>& arguments, const std::string& name, const toml::node& node) const {
    for (const std::string& value : texts_of(node)) {
      if (node.is_boolean() && value == "false") continue;
      arguments.push_back("--" + name);
      if (!node.is_boolean()) arguments.back() += "=" + value;
    }
  }

  // [approval] of one person, [[approval]] of each of several.
  void read_approvals(std::vector<Approval>& approvals) const {
    const toml::node* node = table_.get(approval_table_name);
    if (node == nullptr) return;
    if (const toml::table* one = node->as_table()) {
      approvals.push_back(approval_of(*one));
    } else if (node->is_array_of_tables()) {
      for (const toml::node& each : *node->as_array()) approvals.push_back(approval_of(*each.as_table()));
    } else {
      refuse(*node, "write [approval] with name, role, date and decision, or [[approval]] for each person");
    }
  }

  Approval approval_of(const toml::table& table) const {
    Approval approval;
    const std::map<std::string, std::string*> known{
        {"name", &approval.name}, {"role", &approval.role},         {"date", &approval.date},
        {"note", &approval.note}, {"decision", &approval.decision}, {"identity", &approval.identity},
        {"key", &approval.key}};
    std::vector<std::string> names;
    for (const auto& [name, value] : known) names.push_back(name);
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      const auto found = known.find(name);
      if (found == known.end())
        refuse(node, fmt::format("an approval has no '{}'{}", name, did_you_mean(name, names)));
      *found->second = node.is_date() ? date_of(node.as_date()->get()) : text_of(node);
    }
    if (const std::string fault = fault_of(approval); !fault.empty()) refuse(table, fault);
    return approval;
  }

  static std::string date_of(const toml::date& date) {
    return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
  }

  Requirement requirement_of(const toml::table& table) const {
    static const std::vector<std::string> known{"id", "text", "gates", "step"};
    Requirement requirement;
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (name == "id")
        requirement.id = text_of(node);
      else if (name == "text")
        requirement.text = text_of(node);
      else if (name == "gates")
        requirement.gates = texts_of(node);
      else if (name == "step")
        requirement.step = text_of(node);
      else
        refuse(node, fmt::format("a requirement has no '{}'{}", name, did_you_mean(name, known)));
    }
    return requirement;
  }

  std::filesystem::path file_;
  toml::table table_;
};

}  // namespace

StudyFile read_study(const std::filesystem::path& file) { return StudyReader(file).read(); }

}  // namespace assay::evidence
