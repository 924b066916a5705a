#include "assay/evidence/manifest.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <assay/error.h>
#include "assay/evidence/signature.h"
#include "assay/support/conditions.h"
#include "assay/support/files/file.h"
#include "assay/support/files/format_version.h"
#include "assay/support/files/sha256.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int manifest_version = 1;
constexpr std::uint64_t largest_manifest = std::uint64_t{64} << 20;

// A file of the pack itself: a plain relative path.
std::string inside(const std::string& path) {
  const fs::path given(path);
  const bool sound = !path.empty() && given.is_relative() && given.lexically_normal() == given &&
                     std::ranges::none_of(given, [](const fs::path& part) { return part == ".."; });
  if (!sound) throw std::runtime_error("'" + path + "' is not a path of a file in the pack");
  return path;
}

ManifestStep step_of(const Json& json) {
  return {json.at("name").get<std::string>(),
          inside(json.at("file").get<std::string>()),
          json.at("command").get<std::vector<std::string>>(),
          json.value("of", std::string()),
          json.value("collected", std::string()),
          json.value("exit_code", 0)};
}

Json approvals_as_json(const std::vector<Approval>& approvals) {
  Json json = Json::array();
  for (const Approval& one : approvals)
    json.push_back({{"name", one.name},
                    {"role", one.role},
                    {"date", one.date},
                    {"decision", one.decision},
                    {"note", one.note},
                    {"identity", one.identity},
                    {"key", one.key}});
  return json;
}

std::vector<Approval> approvals_in(const Json& json) {
  std::vector<Approval> approvals;
  for (const Json& one : json)
    approvals.push_back({one.at("name").get<std::string>(), one.at("role").get<std::string>(),
                         one.at("date").get<std::string>(), one.at("decision").get<std::string>(),
                         one.at("note").get<std::string>(), one.at("identity").get<std::string>(),
                         one.at("key").get<std::string>()});
  return approvals;
}

// The content of the report apart from results and files.
void read_report_parts(const Json& json, Manifest& manifest) {
  for (const char* part : {"requirements", "not_done", "machine", "signed"})
    manifest.tells_report = manifest.tells_report && json.contains(part);
  if (!manifest.tells_report) return;
  for (const Json& one : json.at("requirements"))
    manifest.requirements.push_back({one.at("id").get<std::string>(), one.at("text").get<std::string>(),
                                     one.at("gates").get<std::vector<std::string>>(),
                                     one.at("step").get<std::string>()});
  manifest.not_done = json.at("not_done").get<std::vector<std::string>>();
  for (const Json& one : json.at("machine"))
    manifest.machine.emplace_back(one.at(0).get<std::string>(), one.at(1).get<std::string>());
  manifest.is_signed = json.at("signed").get<bool>();
  // Manifests of earlier versions have neither.
  manifest.document_id = json.value("document", std::string());
  manifest.approvals = approvals_in(json.value("approvals", Json::array()));
}

template <typename Part>
void require_once(const std::vector<Part>& parts, std::string Part::*name) {
  std::set<std::string> seen;
  for (const Part& part : parts) {
    if (!seen.insert(part.*name).second) throw std::runtime_error("'" + part.*name + "' occurs twice");
  }
}

}  // namespace

std::vector<PackFile> files_in(const fs::path& pack) {
  std::vector<PackFile> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(pack)) {
    if (entry.is_directory() && !entry.is_symlink()) continue;
    const std::string path = entry.path().lexically_relative(pack).generic_string();
    if (path == manifest_name || path == signature_name || path == journal_name) continue;
    if (!entry.is_regular_file() || entry.is_symlink())
      fail(Fault::data, "{} is not a regular file; packs contain nothing else", entry.path().string());
    files.push_back({path, sha256_of_file(entry.path()), entry.file_size()});
  }
  std::ranges::sort(files, {}, &PackFile::path);
  return files;
}

void write_manifest(const Manifest& manifest, const fs::path& pack) {
  Json json = {{"schema", "assay/evidence"},
               {"version", manifest_version},
               {"document", manifest.document_id},
               {"title", manifest.title},
               {"created", manifest.created},
               {"program", Json::object()},
               {"hash", "SHA-256 of the bytes of each file"}};
  for (const auto& [name, version] : manifest.program) json["program"][name] = version;
  json["steps"] = Json::array();
  for (const ManifestStep& step : manifest.steps)
    json["steps"].push_back({{"name", step.name},
                             {"file", step.file},
                             {"command", step.typed},
                             {"of", step.command},
                             {"collected", step.collected},
                             {"exit_code", step.exit_code}});
  json["requirements"] = Json::array();
  for (const Requirement& one : manifest.requirements)
    json["requirements"].push_back(
        {{"id", one.id}, {"text", one.text}, {"gates", one.gates}, {"step", one.step}});
  json["not_done"] = manifest.not_done;
  json["approvals"] = approvals_as_json(manifest.approvals);
  json["machine"] = Json::array();
  for (const auto& [name, value] : manifest.machine) json["machine"].push_back({name, value});
  json["signed"] = manifest.is_signed;
  json["inputs"] = Json::array();
  for (const InputFile& input : manifest.inputs)
    json["inputs"].push_back(
        {{"role", input.role}, {"path", input.path}, {"sha256", input.sha256}, {"bytes", input.bytes}});
  json["files"] = Json::array();
  for (const PackFile& file : manifest.files)
    json["files"].push_back({{"path", file.path}, {"sha256", file.sha256}, {"bytes", file.bytes}});
  write_file(pack / manifest_name, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Manifest read_manifest(const fs::path& pack) {
  const fs::path file = pack / manifest_name;
  std::error_code unknown;
  if (!is_plain_or_missing(file))
    fail(Fault::data, "{} is not a plain file; packs hold nothing else", file.string());
  if (!fs::is_regular_file(file, unknown))
    fail(Fault::io,
         "{} is not an evidence pack: it has no {}; name the folder or the archive that `assay evidence` "
         "wrote",
         pack.string(), manifest_name);
  try {
    const Json json = Json::parse(read_file(file, largest_manifest));
    if (json.at("schema") != "assay/evidence") throw std::runtime_error("it is of another kind");
    if (const std::string fault = other_format(json.at("version"), manifest_version); !fault.empty())
      throw std::runtime_error(fault);
    Manifest manifest;
    manifest.title = json.at("title").get<std::string>();
    manifest.created = json.at("created").get<std::string>();
    for (const auto& [name, version] : json.at("program").items())
      manifest.program.emplace_back(name, version.get<std::string>());
    for (const Json& step : json.at("steps")) manifest.steps.push_back(step_of(step));
    read_report_parts(json, manifest);
    for (const Json& input : json.at("inputs"))
      manifest.inputs.push_back({input.at("role").get<std::string>(), input.at("path").get<std::string>(),
                                 input.at("sha256").get<std::string>(),
                                 input.at("bytes").get<std::uint64_t>()});
    for (const Json& entry : json.at("files"))
      manifest.files.push_back({inside(entry.at("path").get<std::string>()),
                                entry.at("sha256").get<std::string>(),
                                entry.at("bytes").get<std::uint64_t>()});
    require_once(manifest.files, &PackFile::path);
    require_once(manifest.steps, &ManifestStep::name);
    return manifest;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    pass_on_condition();
    fail(Fault::data, "{}: not the manifest of an evidence pack: {}", file.string(), error.what());
  }
}

std::vector<std::string> differences(const Manifest& manifest, const fs::path& pack) {
  std::map<std::string, PackFile> found;
  for (PackFile& file : files_in(pack)) found.emplace(file.path, file);
  std::vector<std::string> different;
  if (manifest.files.empty()) different.emplace_back("the manifest lists no file");
  for (const PackFile& file : manifest.files) {
    const auto there = found.find(file.path);
    if (there == found.end())
      different.push_back("missing: " + file.path);
    else if (there->second.sha256 != file.sha256 || there->second.bytes != file.bytes)
      different.push_back("changed: " + file.path);
    if (there != found.end()) found.erase(there);
  }
  for (const auto& [path, file] : found) different.push_back("not listed: " + path);
  for (const ManifestStep& step : manifest.steps) {
    if (std::ranges::find(manifest.files, step.file, &PackFile::path) == manifest.files.end())
      different.push_back("not in the manifest: " + step.file);
  }
  if (fs::exists(fs::symlink_status(pack / journal_name)))
    different.push_back("not finished: give the command that makes the pack once more");
  return different;
}

}  // namespace assay::evidence
