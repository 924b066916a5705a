#include "assay/support/files/outputs.h"

#include <fnmatch.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>

#include <assay/error.h>
#include "assay/support/ascii.h"
#include "assay/support/files/file.h"
#include "assay/support/files/input_file.h"
#include "assay/support/files/journal.h"

namespace assay::inline support {
namespace {

namespace fs = std::filesystem;

using Identity = std::pair<dev_t, ino_t>;

// Of a file that is there, not of pipes, devices and folders.
std::optional<Identity> identity_of(const fs::path& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  return Identity{about.st_dev, about.st_ino};
}

// Two texts that name one place give one path.
fs::path place_of(const fs::path& path) {
  std::error_code code;
  const fs::path place = written_place(path);
  fs::path whole = fs::weakly_canonical(fs::absolute(place, code), code);
  if (code) return place;
  return whole.has_filename() ? whole : whole.parent_path();
}

// A file goes into a folder that is there, or into one that this run makes.
void require_folder_of(const Output& output, const std::vector<Output>& outputs) {
  const fs::path folder = written_place(output.path).parent_path();
  std::error_code code;
  if (folder.empty() || fs::exists(folder, code) || code) return;
  const std::string place = place_of(folder).string();
  for (const Output& made : outputs) {
    if (made.kind != Output::Kind::folder || made.path.empty()) continue;
    const std::string top = place_of(made.path).string();
    if (place == top || place.starts_with(top + "/")) return;
  }
  fail(Fault::io, "{}: there is no folder {}; make it first, or name another file for {}", output.path,
       folder.string(), output.name);
}

// A terminal or /dev/null takes what several outputs write.
bool takes_several(const fs::path& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISCHR(about.st_mode);
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  return path != folder &&
         std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

bool matches(const std::vector<std::string>& patterns, const std::string& name, int folding = 0) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), name.c_str(), folding) == 0;
  });
}

// Whether an output writes files of any name, at any depth.
bool takes_all(const Output& output) { return matches(output.members, "any/file"); }

// The protobuf number at `at`, which is moved past it.
std::size_t read_varint(std::string_view bytes, std::size_t& at) {
  std::size_t number = 0;
  for (int shift = 0; at < bytes.size() && shift < 35; shift += 7) {
    const auto byte = byte_of(bytes[at++]);
    number |= std::size_t{byte & 0x7fU} << shift;
    if (byte < 0x80) break;
  }
  return number;
}

// Whether a network's file says that weights of it lie in `file`: an entry "location" of ONNX's external
// data.
bool has_weights_in(const fs::path& network, const fs::path& file) {
  constexpr std::string_view entry = "\x0a\x08location\x12";
  const std::string bytes = read_file(network);
  for (std::size_t at = bytes.find(entry); at != std::string::npos; at = bytes.find(entry, at)) {
    at += entry.size();
    const std::size_t length = read_varint(bytes, at);
    if (length <= bytes.size() - at && place_of(network.parent_path() / bytes.substr(at, length)) == file)
      return true;
  }
  return false;
}

// An output where it is, and what it writes there.
struct Placed {
  const Output& output;
  fs::path place;
  bool is_folder() const { return output.kind == Output::Kind::folder; }
};

bool may_be_one_name(const std::string& a, const std::string& b) {
  const auto is_plain = [](char c) { return byte_of(c) < 0x80; };
  return ::strcasecmp(a.c_str(), b.c_str()) == 0 || !std::ranges::all_of(a, is_plain) ||
         !std::ranges::all_of(b, is_plain);
}

// Whether the patterns of one folder take a name that those of another give.
bool share_names(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::any_of(b, [&](const std::string& name) { return matches(a, name); });
}

class OutputCheck {
 public:
  OutputCheck(const std::vector<NamedPath>& inputs, const SameNames& same) : same_(same) {
    for (const auto& [path, name] : inputs) {
      if (path.empty()) continue;
      if (const auto identity = identity_of(path)) read_.emplace(*identity, name);
      std::error_code code;
      if (fs::is_directory(path, code)) folders_.emplace_back(place_of(path), name);
      if (path.extension() == ".onnx" && fs::is_regular_file(path, code)) networks_.emplace_back(path, name);
    }
  }

  void check(const Output& output, const std::vector<Output>& all) {
    if (output.path.empty()) return;
    const Placed placed{output, place_of(output.path)};
    if (placed.is_folder()) {
      require_writable_folder(output.path);
      for (const fs::path& file : replaceable_files(output)) require_unread(output, file);
    } else {
      require_folder_of(output, all);
      if (output.kind == Output::Kind::journal) Journal::require_place(output.path);
      require_writable(output.path);
      if (output.goes_on) require_kept(output.name, output.path);
      require_unread(output, output.path);
      // Weights that do not fit into a network's file lie next to it.
      if (placed.place.extension() == ".onnx") require_unread(output, output.path + ".data");
    }
    for (const Placed& earlier : outputs_) require_apart(earlier, placed);
    outputs_.push_back(placed);
  }

 private:
  void require_unread(const Output& output, const fs::path& file) const {
    const auto identity = identity_of(file);
    if (!identity) return;
    const auto refuse = [&](const std::string& input) {
      fail(Fault::usage, "{} would overwrite {}, which {} reads; name another {}", output.name, file.string(),
           input, output.kind == Output::Kind::folder ? "folder" : "file");
    };
    if (const auto input = read_.find(*identity); input != read_.end()) refuse(input->second);
    const fs::path place = place_of(file);
    for (const auto& [folder, name] : folders_)
      if (is_inside(place, folder)) refuse(name);
    for (const auto& [network, name] : networks_)
      if (is_inside(place, place_of(network).parent_path()) && has_weights_in(network, place)) refuse(name);
  }

  void require_apart(const Placed& a, const Placed& b) const {
    // Outputs of one flag do not conflict with each other.
    if (a.output.name == b.output.name || takes_several(b.place)) return;
    const bool together = a.is_folder() && b.is_folder() ? share_folder(a, b)
                          : a.is_folder()                ? is_member(b, a)
                          : b.is_folder()                ? is_member(a, b)
                                                         : is_one_file(a, b);
    if (together)
      fail(Fault::usage, "{} and {} would both write {}; name two {}", a.output.name, b.output.name,
           (b.is_folder() ? a : b).output.path, a.is_folder() || b.is_folder() ? "folders" : "files");
  }

  static bool share_folder(const Placed& a, const Placed& b) {
    if (is_inside(b.place, a.place)) return takes_all(a.output);
    if (is_inside(a.place, b.place)) return takes_all(b.output);
    return a.place == b.place && (share_names(a.output.members, b.output.members) ||
                                  share_names(b.output.members, a.output.members));
  }

  // The journal of a folder that lies in it belongs to it.
  bool is_member(const Placed& file, const Placed& folder) const {
    if (file.output.name.ends_with(" of " + folder.output.name)) return false;
    const fs::path inside = file.place.lexically_relative(folder.place);
    return is_inside(file.place, folder.place) && writes(folder.output, inside.generic_string());
  }

  // Whether a file of this name in the folder of an output may be one of those that are written.
  bool writes(const Output& output, const std::string& name) const {
    return matches(output.members, name) ||
           (matches(output.members, name, FNM_CASEFOLD) && same_(output.path, "a", "A"));
  }

  // Files that are in the folder of an output and may be replaced.
  std::vector<fs::path> replaceable_files(const Output& output) const {
    std::vector<fs::path> files;
    std::error_code code;
    for (fs::recursive_directory_iterator entry(output.path, code), end; !code && entry != end;
         entry.increment(code)) {
      if (!takes_all(output)) entry.disable_recursion_pending();
      if (writes(output, entry->path().filename().string())) files.push_back(entry->path());
    }
    return files;
  }

  bool is_one_file(const Placed& a, const Placed& b) const {
    if (a.place == b.place) return true;
    const std::string name = a.place.filename().string(), second = b.place.filename().string();
    return a.place.parent_path() == b.place.parent_path() && may_be_one_name(name, second) &&
           same_(a.place.parent_path(), name, second);
  }

  const SameNames& same_;
  std::map<Identity, std::string> read_;
  std::vector<NamedPath> folders_, networks_;
  std::vector<Placed> outputs_;
};

}  // namespace

bool are_one_name(const fs::path& folder, const std::string& a, const std::string& b) {
  fs::path nearest = folder;
  std::error_code code;
  while (nearest.has_relative_path() && !fs::is_directory(nearest, code)) nearest = nearest.parent_path();
  const TemporaryFile trial = make_temporary(nearest / a);
  // The temporary name ends in what is the same for both.
  const std::string ending = trial.path.filename().string().substr(std::min<std::size_t>(a.size(), 200));
  struct stat about {};
  const bool one = ::stat((nearest / (b + ending)).c_str(), &about) == 0;
  ::unlink(trial.path.c_str());
  ::close(trial.descriptor);
  return one;
}

void check_outputs(const std::vector<Output>& outputs, const std::vector<NamedPath>& inputs,
                   const SameNames& same) {
  OutputCheck check(inputs, same);
  for (const Output& output : outputs) check.check(output, outputs);
}

void check_replaced(const fs::path& path, std::string_view what, const std::function<bool()>& belongs) {
  std::error_code code;
  if (!fs::is_regular_file(path, code) || fs::file_size(path, code) == 0) return;
  bool fits = false;
  try {
    fits = belongs();
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    // Then it is another file.
  }
  if (!fits)
    fail(Fault::mismatch, "{} holds something else than {}; name another file, or {}", path.string(), what,
         About{"have it replaced", "replace it with {force}"});
}

}  // namespace assay::inline support
