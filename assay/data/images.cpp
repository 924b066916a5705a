// Folders and archives of PNG and JPEG pictures. The class is the picture's folder (in alphabetical order), unless
// labels or targets come from a table.

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <memory>

#include "assay/data/formats.h"
#include "assay/data/image.h"
#include "assay/support/error.h"
#include "assay/support/file.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t archive_limit = std::uint64_t{8} << 30;  // bytes of pictures, still compressed

struct Member {
  std::string name;      // path inside the folder or archive
  std::string bytes;     // of archives; folders are read on demand
};

bool is_picture(const std::string& name) {
  std::string extension = fs::path(name).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

bool is_under(const std::string& name, const std::string& prefix) {
  return prefix.empty() || (name.starts_with(prefix) && (name.size() == prefix.size() || prefix.back() == '/' || name[prefix.size()] == '/'));
}

std::vector<Member> list_folder(const fs::path& folder, const std::string& under) {
  std::vector<Member> members;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::string name = fs::relative(entry.path(), folder).generic_string();
    if (entry.is_regular_file() && is_picture(name) && is_under(name, under)) members.push_back({std::move(name), {}});
  }
  return members;
}

struct CloseArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};

std::vector<Member> read_archive(const fs::path& path, const std::string& under) {
  const std::unique_ptr<archive, CloseArchive> reader(archive_read_new());
  archive_read_support_filter_all(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  const auto check = [&](int code) {
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
      const char* const reason = archive_error_string(reader.get());
      fail(Fault::data, "{}: the archive is damaged or cut short: {}", path.string(), reason == nullptr ? "unknown reason" : reason);
    }
  };
  check(archive_read_open_filename(reader.get(), path.c_str(), 1 << 18));
  std::vector<Member> members;
  std::uint64_t total = 0;
  archive_entry* entry = nullptr;
  for (int code; (code = archive_read_next_header(reader.get(), &entry)) != ARCHIVE_EOF;) {
    check(code);
    const char* const pathname = archive_entry_pathname(entry);
    std::string name = pathname == nullptr ? "" : pathname;
    if (name.starts_with("./")) name.erase(0, 2);
    if (archive_entry_filetype(entry) != AE_IFREG || !is_picture(name) || !is_under(name, under)) continue;
    Member& member = members.emplace_back(Member{std::move(name), {}});
    char buffer[1 << 16];
    for (la_ssize_t got; (got = archive_read_data(reader.get(), buffer, sizeof buffer)) != 0;) {
      if (got < 0) check(static_cast<int>(got));
      total += static_cast<std::uint64_t>(got);
      if (total > archive_limit) fail(Fault::resources, "{}: more than {} bytes of pictures; unpack it and name the folder", path.string(), archive_limit);
      member.bytes.append(buffer, static_cast<std::size_t>(got));
    }
  }
  return members;
}

class ImageSource final : public Source {
 public:
  explicit ImageSource(const DataSpec& spec) : folder_(spec.path) {
    const bool is_folder = fs::is_directory(folder_);
    members_ = is_folder ? list_folder(folder_, spec.text("under")) : read_archive(folder_, spec.text("under"));
    if (members_.empty()) {
      fail(Fault::data, "{}: no PNG or JPEG pictures{}", spec.path, spec.has("under") ? " under " + spec.text("under") : "");
    }
    std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
    for (const Member& member : members_) classes_.push_back(folder_of(member.name));
    std::sort(classes_.begin(), classes_.end());
    classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
    // One folder for all says nothing about classes.
    if (classes_.size() < 2) classes_.clear();
    choose_shape(spec);
  }

  std::size_t size() const override { return members_.size(); }
  Shape shape() const override { return {channels_, height_, width_}; }
  bool is_8bit() const override { return true; }
  std::string id(std::size_t index) const override { return members_[index].name; }
  std::optional<std::int64_t> label(std::size_t index) const override {
    if (classes_.empty()) return std::nullopt;
    return std::lower_bound(classes_.begin(), classes_.end(), folder_of(members_[index].name)) - classes_.begin();
  }
  std::vector<std::string> class_names() const override {
    std::vector<std::string> names;
    for (const std::string& folder : classes_) names.push_back(fs::path(folder).filename().string());
    return names;
  }
  void read(std::size_t index, void* out) const override {
    Image image = with_channels(decode(index), static_cast<int>(channels_));
    if (resize_) image = resized(image, static_cast<int>(width_), static_cast<int>(height_));
    if (image.width != width_ || image.height != height_) {
      fail(Fault::data, "{}: {} is {}x{} where others are {}x{}; say resize={}x{}", folder_.string(), members_[index].name, image.height,
           image.width, height_, width_, height_, width_);
    }
    auto* values = static_cast<float*>(out);
    const std::size_t plane = static_cast<std::size_t>(width_ * height_);
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels_); ++c) {
      for (std::size_t p = 0; p < plane; ++p) values[c * plane + p] = image.pixels[p * static_cast<std::size_t>(channels_) + c];
    }
  }
  std::string format() const override { return "images"; }

 private:
  static std::string folder_of(const std::string& name) { return fs::path(name).parent_path().generic_string(); }

  Image decode(std::size_t index) const {
    const Member& member = members_[index];
    const std::string name = fmt::format("{}: {}", folder_.string(), member.name);
    return member.bytes.empty() ? decode_image(read_file(folder_ / member.name, 1 << 28), name) : decode_image(member.bytes, name);
  }

  void choose_shape(const DataSpec& spec) {
    const Image first = decode(0);
    channels_ = first.channels;
    const std::string color = spec.text("color");
    if (color == "grey" || color == "gray") channels_ = 1;
    else if (color == "rgb") channels_ = 3;
    else if (!color.empty()) fail(Fault::usage, "data option color={}: grey or rgb", color);
    height_ = first.height;
    width_ = first.width;
    const std::string size = spec.text("resize");
    if (size.empty()) return;
    int h = 0, w = 0, used = 0;
    if (std::sscanf(size.c_str(), "%dx%d%n", &h, &w, &used) != 2 || static_cast<std::size_t>(used) != size.size() || h < 1 || w < 1 || h > 8192 || w > 8192) {
      fail(Fault::usage, "data option resize={}: HEIGHTxWIDTH such as 32x32", size);
    }
    resize_ = true;
    height_ = h;
    width_ = w;
  }

  fs::path folder_;
  std::vector<Member> members_;
  std::vector<std::string> classes_;
  std::int64_t channels_ = 0, height_ = 0, width_ = 0;
  bool resize_ = false;
};

bool is_archive_name(const std::string& name) {
  for (const char* ending : {".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tar.zst", ".zip"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

}  // namespace

FormatInfo images_format() {
  return {"images", "folders and archives (.tar, compressed or not, .zip) of PNG and JPEG; class from the folder; under=, color=, resize=",
          [](const fs::path& path, std::string_view) { return fs::is_directory(path) || is_archive_name(path.filename().string()); },
          [](const DataSpec& spec) -> std::unique_ptr<Source> { return std::make_unique<ImageSource>(spec); }};
}

}  // namespace assay
