#include "assay/evidence/approvals.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "assay/report/table_of.h"
#include "assay/support/text/text.h"

namespace assay::evidence {
namespace {

constexpr const char *rejected = "rejected", *conditional = "approved with conditions",
                     *key_prefix = "SHA256:";

std::vector<std::string> names_of(std::span<const Approval> approvals) {
  std::vector<std::string> names;
  for (const Approval& one : approvals) names.push_back(one.name);
  return names;
}

// Of the calendar, written 2026-11-29.
bool is_date(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto number = [&](std::size_t at, std::size_t length) {
    int value = -1;
    const char* const end = text.data() + at + length;
    return std::from_chars(text.data() + at, end, value).ptr == end ? value : -1;
  };
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  return year > 0 && month > 0 && day > 0 &&
         std::chrono::year_month_day(std::chrono::year(year),
                                     std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
             .ok();
}

}  // namespace

const std::vector<std::string>& approval_decisions() {
  static const std::vector<std::string> all{"approved", conditional, rejected};
  return all;
}

std::string fault_of(const Approval& approval) {
  const std::vector<std::string>& decisions = approval_decisions();
  if (approval.name.empty()) return "an approval has no name; say whose it is";
  if (approval.role.empty())
    return fmt::format("the approval of {} has no role; say as what the person decides", approval.name);
  if (!is_date(approval.date))
    return fmt::format("the approval of {} has the date '{}'; write it as 2026-11-29", approval.name,
                       approval.date);
  if (std::ranges::find(decisions, approval.decision) == decisions.end())
    return fmt::format("the approval of {} has the decision '{}'; there are {}{}", approval.name,
                       approval.decision, joined(decisions), did_you_mean(approval.decision, decisions));
  if (approval.decision == conditional && approval.note.empty())
    return fmt::format("the approval of {} has conditions and does not name them; write them as `note`",
                       approval.name);
  if (!approval.key.empty() && !approval.key.starts_with(key_prefix))
    return fmt::format(
        "the approval of {} has the key '{}'; write its fingerprint, SHA256:..., as ssh-keygen -l prints it",
        approval.name, approval.key);
  return "";
}

report::Table approval_table(std::span<const Approval> approvals) {
  const auto signs = [](const Approval& one) {
    std::vector<std::string> known;
    for (const std::string& by : {one.identity, one.key})
      if (!by.empty()) known.push_back(by);
    return joined(known);
  };
  return report::table_of("approvals", "Approvals", approvals,
                          {{"name", &Approval::name},
                           {"role", &Approval::role},
                           {"date", &Approval::date},
                           {"decision", &Approval::decision},
                           {"note", &Approval::note},
                           {"signs", "signs as", signs}});
}

std::string described(const Approval& approval) {
  return fmt::format("{}, {}, {}: {}{}", approval.name, approval.role, approval.date, approval.decision,
                     approval.note.empty() ? "" : " (" + approval.note + ")");
}

std::vector<report::Gate> rejections(std::span<const Approval> approvals) {
  std::vector<report::Gate> gates;
  for (const Approval& one : approvals) {
    if (one.decision != rejected) continue;
    report::Gate gate;
    gate.text = fmt::format("approval of {}", one.name);
    gate.criterion = "approval";
    gate.threshold = "0";
    gate.reason = described(one);
    gates.push_back(std::move(gate));
  }
  return gates;
}

Signatory signatory_among(std::span<const Approval> approvals, const std::string& identity,
                          const std::string& key) {
  using Kind = Signatory::Kind;
  const std::string who = identity.empty() ? "the key " + key : identity,
                    is_of = identity.empty() ? " is of" : " is";
  for (const Approval& one : approvals) {
    const bool is_named = !identity.empty() && (one.identity == identity || one.name == identity);
    const bool has_key = !key.empty() && one.key == key;
    if (is_named && !one.key.empty() && !has_key)
      return {
          Kind::unknown,
          fmt::format("{} signed with the key {}, and the approval of {} names {}; sign with that key, or "
                      "correct the approval",
                      identity, key, one.name, one.key)};
    if (is_named || has_key) return {Kind::named, fmt::format("{} is {}, {}", who, one.name, one.role)};
  }
  const bool can_tell = !identity.empty() ||
                        std::ranges::all_of(approvals, [](const Approval& one) { return !one.key.empty(); });
  if (!can_tell)
    return {Kind::undecided,
            fmt::format(
                "approvals are by {}; whether {} is of one of them is not known: not all approvals name a "
                "`key`",
                joined(names_of(approvals)), who)};
  return {Kind::unknown,
          fmt::format("{}{} none of the persons who decide ({}); have one of them sign, or add an "
                      "[[approval]] with `identity` or `key` of who signed",
                      who, is_of, joined(names_of(approvals)))};
}

}  // namespace assay::evidence
