// Folders and archives of PNG and JPEG pictures. The class is the picture's folder (in alphabetical order),
// unless labels or targets come from a table or from files beside the pictures.

#include <algorithm>
#include <cctype>
#include <functional>
#include <limits>
#include <memory>

#include <assay/error.h>
#include <assay/extend/data_format.h>
#include "assay/data/bytes.h"
#include "assay/data/characteristics.h"
#include "assay/data/companions.h"
#include "assay/data/files/archive.h"
#include "assay/data/files/exif.h"
#include "assay/data/files/picture.h"
#include "assay/support/files/file.h"
#include "assay/support/files/input_file.h"
#include "assay/support/text/parse.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

// Companion files of other systems for `x.png` are `._x.png`.
bool is_picture(const std::string& name) {
  if (fs::path(name).filename().string().starts_with("._")) return false;
  std::string extension = fs::path(name).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

bool is_under(const std::string& name, const std::string& prefix) {
  return prefix.empty() || (name.starts_with(prefix) && (name.size() == prefix.size() ||
                                                         prefix.back() == '/' || name[prefix.size()] == '/'));
}

// Names of these files in a folder and the folders in it, ascending.
std::vector<std::string> list_folder(const fs::path& folder,
                                     const std::function<bool(const std::string&)>& wanted) {
  std::vector<std::string> names;
  for (const fs::path& file : files_in(folder, true)) {
    std::string name = file.lexically_relative(folder).generic_string();
    if (wanted(name)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// In meta=: the folder that holds the folders of classes.
constexpr const char* folder_column = "folder";

class ImageSource final : public Source {
 public:
  explicit ImageSource(const DataSpec& spec)
      : folder_(spec.path), companions_(spec.path, spec.has("meta") && !spec.has("metadata")) {
    const std::string under = spec.text("under");
    const std::vector<std::string> asked = column_names(spec.words("meta"));
    apart_ = !spec.has("metadata") && std::ranges::find(asked, folder_column) != asked.end();
    list_files(under);
    if (names_.empty())
      fail(Fault::data, "{}: no PNG or JPEG pictures{}", spec.path, under.empty() ? "" : " under " + under);
    std::optional<ClassLabels> beside = companions_.classes(names_, reader());
    names_number_ = beside && !beside->class_names.empty() && !spec.has("labels");
    classes_beside_ = beside.has_value();
    classes_ = beside ? std::move(*beside) : classes_of_folders();
    choose_colours(spec);
    choose_shape(spec);
    if (!options_.upright) look_for_orientations();
  }

  std::size_t size() const override { return names_.size(); }
  Shape shape() const override { return {channels_, height_, width_}; }
  bool is_8bit() const override { return true; }
  std::string id(std::size_t index) const override { return names_[index]; }
  std::optional<std::int64_t> label(std::size_t index) const override {
    if (classes_.labels.empty()) return std::nullopt;
    return classes_.labels[index];
  }
  std::vector<std::string> class_names() const override { return classes_.class_names; }
  std::optional<std::vector<std::string>> column(const std::string& name) const override {
    if (name != folder_column) return companions_.column(name, names_, reader());
    std::vector<std::string> folders;
    for (const std::string& picture : names_)
      folders.push_back(fs::path(picture).parent_path().parent_path().filename().string());
    return folders;
  }
  std::vector<std::string> columns() const override { return {folder_column}; }
  void read(std::size_t index, void* out) const override {
    Picture picture = decode(index);
    std::visit([&](auto& image) { put(std::move(image), index, static_cast<float*>(out)); }, picture.pixels);
  }
  std::string format() const override {
    std::string text = "images";
    if (oriented_) text += ", EXIF orientation not applied";
    if (names_number_) text += ", labels numbered in alphabetical order";
    return text;
  }

 private:
  void list_files(const std::string& under) {
    const auto wanted = [&](const std::string& name) {
      return (is_picture(name) || companions_.takes(name)) && is_under(name, under);
    };
    if (fs::is_directory(folder_)) {
      files_ = list_folder(folder_, wanted);
    } else {
      archive_.emplace(folder_, wanted);
      for (std::size_t i = 0; i < archive_->size(); ++i) files_.push_back(archive_->name(i));
    }
    for (std::size_t file = 0; file < files_.size(); ++file) {
      if (is_picture(files_[file])) {
        names_.push_back(files_[file]);
        pictures_.push_back(file);
      } else {
        companions_.add(files_[file], file);
      }
    }
  }

  Companions::Read reader() const {
    return [this](std::size_t file) { return bytes_of_file(file); };
  }

  // One folder for all says nothing about classes.
  ClassLabels classes_of_folders() const {
    std::vector<std::string> folders;
    for (const std::string& name : names_) folders.push_back(folder_of(name));
    std::vector<std::string> known = folders;
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    ClassLabels classes;
    if (known.size() < 2) return classes;
    for (const std::string& folder : folders)
      classes.labels.push_back(std::lower_bound(known.begin(), known.end(), folder) - known.begin());
    for (const std::string& folder : known)
      classes.class_names.push_back(fs::path(folder).filename().string());
    return classes;
  }

  // The class: where the folder above it is a characteristic, night/cat and day/cat are one.
  std::string folder_of(const std::string& name) const {
    const fs::path folder = fs::path(name).parent_path();
    return apart_ ? folder.filename().string() : folder.generic_string();
  }

  std::string bytes_of_file(std::size_t file) const {
    return archive_ ? archive_->read(file) : read_file(folder_ / files_[file], 1 << 28);
  }

  Picture decode(std::size_t index) const {
    return decode_picture(bytes_of_file(pictures_[index]),
                          fmt::format("{}: {}", folder_.string(), names_[index]), options_);
  }

  // Writes the elements, plane after plane; white is 255 for any number of bits.
  template <typename Shade>
  void put(Pixels<Shade> image, std::size_t index, float* values) const {
    constexpr float unit = std::numeric_limits<Shade>::max() / 255;
    image = with_channels(std::move(image), static_cast<int>(channels_));
    if (resize_) image = resized(std::move(image), static_cast<int>(width_), static_cast<int>(height_));
    if (image.width != width_ || image.height != height_) {
      fail(Fault::data, "{}: {} is {}x{} where others are {}x{}; say resize={}x{}", folder_.string(),
           names_[index], image.height, image.width, height_, width_, height_, width_);
    }
    const std::size_t plane = width_ * height_, channels = channels_;
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t p = 0; p < plane; ++p)
        values[c * plane + p] = static_cast<float>(image.pixels[p * channels + c]) / unit;
    }
  }

  // Of up to so many pictures, evenly spread, whether one is to be rotated before it is looked at.
  void look_for_orientations() {
    constexpr std::size_t most_looked_at = 64, longest_head = 1 << 17;
    const std::size_t step = (names_.size() + most_looked_at - 1) / most_looked_at;
    for (std::size_t i = 0; i < names_.size() && !oriented_; i += step)
      oriented_ = exif_orientation(archive_ ? archive_->read(pictures_[i])
                                            : read_head(folder_ / names_[i], longest_head)) != 1;
  }

  // Options for transparent parts and for orientation.
  void choose_colours(const DataSpec& spec) {
    const std::string orientation = spec.text("orientation", "stored");
    if (orientation != "stored" && orientation != "exif")
      fail(Fault::usage, "data option orientation={}: stored or exif", orientation);
    options_.upright = orientation == "exif";
    const std::string text = spec.text("background");
    if (text.empty()) return;
    std::vector<std::string> shades = parts_of(text, "/");
    if (text == "black" || text == "white") shades = {text == "black" ? "0" : "255"};
    if (shades.size() == 1) shades.resize(3, shades[0]);
    options_.background.emplace();
    for (std::size_t c = 0; c < shades.size(); ++c) {
      const auto shade = number_of<std::uint8_t>(shades[c]);
      if (!shade || shades.size() != 3)
        fail(Fault::usage, "data option background={}: black, white, or red/green/blue such as 128/128/128",
             text);
      (*options_.background)[c] = *shade;
    }
  }

  void choose_shape(const DataSpec& spec) {
    const Picture first = decode(0);
    channels_ = first.channels();
    const std::string color = spec.text("color");
    if (color == "grey" || color == "gray")
      channels_ = 1;
    else if (color == "rgb")
      channels_ = 3;
    else if (!color.empty())
      fail(Fault::usage, "data option color={}: grey or rgb", color);
    height_ = first.height();
    width_ = first.width();
    const std::string size = spec.text("resize");
    if (size.empty()) return;
    const std::vector<std::string> sides = parts_of(size, "x");
    const std::int64_t height = number_of<std::int64_t>(sides[0]).value_or(0),
                       width = sides.size() == 2 ? number_of<std::int64_t>(sides[1]).value_or(0) : 0;
    if (height < 1 || width < 1 || height > 8192 || width > 8192)
      fail(Fault::usage, "data option resize={}: HEIGHTxWIDTH such as 32x32, each up to 8192", size);
    resize_ = true;
    height_ = height;
    width_ = width;
  }

  fs::path folder_;
  std::optional<Archive> archive_;          // nothing for folders, which are read on demand
  std::vector<std::string> files_, names_;  // all that count; pictures
  std::vector<std::size_t> pictures_;       // positions among the files
  Companions companions_;
  ClassLabels classes_;
  std::int64_t channels_ = 0, height_ = 0, width_ = 0;
  PictureOptions options_;
  bool resize_ = false, oriented_ = false;
  bool classes_beside_ = false;  // in files, not by folders
  bool names_number_ = false;    // labels in words, in alphabetical order
  bool apart_ = false;           // the folder above the class is a characteristic
};

}  // namespace

FormatInfo images_format() {
  return {
      "images",
      "folders and archives (.tar, compressed or not, .zip) of PNG and JPEG; class from the folder or from "
      ".cls "
      "files; under=, "
      "color=, resize=, background=, orientation=, meta=folder",
      {"under", "color", "resize", "background", "orientation"},
      [](const fs::path& path, std::string_view) { return fs::is_directory(path) || is_archive_name(path); },
      [](const DataSpec& spec) -> std::unique_ptr<Source> { return std::make_unique<ImageSource>(spec); }};
}

}  // namespace assay::inline data
