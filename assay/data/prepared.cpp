// The data set that all formats share: choosing records, labels and targets from tables, scaling, batching.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/data_format.h>
#include <assay/extend/random.h>
#include <assay/records.h>
#include "assay/data/boxes.h"
#include "assay/data/bytes.h"
#include "assay/data/files/csv.h"
#include "assay/data/files/records_file.h"
#include "assay/data/masks.h"
#include "assay/data/metadata.h"
#include "assay/data/named.h"
#include "assay/data/relabel.h"
#include "assay/data/spec.h"
#include "assay/data/table_rows.h"
#include "assay/data/texts.h"
#include "assay/support/files/hash.h"
#include "assay/support/files/pointer_file.h"
#include "assay/support/memory.h"
#include "assay/support/text/named.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"
#include "assay/support/threads.h"

namespace assay {
namespace {

// Options that any format may have; formats add theirs (FormatInfo::options).
const std::set<std::string> common_options{
    "format", "labels", "label",   "targets",    "target",    "id",   "scale",   "mean",    "std",
    "layout", "range",  "classes", "sample",     "per_class", "seed", "flatten", "relabel", "decimal",
    "ids",    "masks",  "boxes",   "categories", "texts",     "meta", "metadata"};

// Throws Error{usage} for an option that neither the format nor all formats have.
void check_options(const DataSpec& spec, const std::string& text, const FormatInfo& format) {
  std::vector<std::string> names(common_options.begin(), common_options.end());
  names.insert(names.end(), format.options.begin(), format.options.end());
  for (const auto& [key, value] : spec.options) {
    if (std::ranges::find(names, key) != names.end()) continue;
    for (const FormatInfo& other : data_formats()) {
      if (std::ranges::find(other.options, key) == other.options.end()) continue;
      fail(Fault::usage, "data '{}': {}= is for the format {}, and this is {}", text, key, other.name,
           format.name);
    }
    fail(Fault::usage, "data '{}': there is no option '{}'{}", text, key, did_you_mean(key, names));
  }
}

// Values that would be taken for something else than what they say.
void check_values(const DataSpec& spec, const std::string& text, const FormatInfo& format) {
  if (spec.integer("seed", 1) < 0)
    fail(Fault::usage, "data '{}': seed={} is less than 0", text, spec.text("seed"));
  const std::int64_t flatten = spec.integer("flatten", 0);
  if (flatten != 0 && flatten != 1)
    fail(Fault::usage, "data '{}': flatten={} is neither 0 nor 1", text, spec.text("flatten"));
  if (spec.has("categories") && !spec.has("boxes"))
    fail(Fault::usage, "data '{}': categories= is about boxes, but no boxes are given; add boxes=", text);
  if (spec.has("metadata") && !spec.has("meta"))
    fail(Fault::usage, "data '{}': which columns of metadata= are characteristics? add meta=COLUMN+COLUMN",
         text);
  if (format.name == "csv" || format.name == "jsonl") return;
  const bool labels = is_table_name(spec.text("labels")) || is_table_name(spec.text("texts")),
             targets = spec.has("targets"), metadata = spec.has("metadata");
  for (const auto& [key, used] :
       {std::pair("label", labels), std::pair("target", targets),
        std::pair("id", labels || targets || metadata), std::pair("decimal", labels || targets)}) {
    if (spec.has(key) && !used)
      fail(Fault::usage,
           "data '{}': {}= is about a table, but no table is given; add labels=, targets= or metadata=", text,
           key);
  }
}

struct Preparation {
  std::vector<float> scale{1}, shift{0};  // value * scale + shift, one for all or one per channel
  bool from_channels_last = false;
};

class Prepared final : public Dataset {
 public:
  Prepared(DataSpec spec, std::string text, std::unique_ptr<Source> source)
      : spec_(std::move(spec)), text_(std::move(text)), source_(std::move(source)) {
    source_shape_ = source_->shape();
    check_shape();
    chosen_.resize(source_->size());
    std::iota(chosen_.begin(), chosen_.end(), std::size_t{0});
    facts_.others = source_->others();
    prepare();
    read_labels();
    read_targets();
    if (spec_.has("meta")) read_characteristics();
    choose();
    if (chosen_.empty()) fail(Fault::data, "data '{}': no records are left", text_);
    facts_.size = chosen_.size();
    facts_.dtype = source_->dtype();
    facts_.input_name = source_->input_name();
    facts_.has_labels = !labels_.empty();
    facts_.description = description();
  }

  std::string id(std::size_t index) const override { return source_->id(chosen_.at(index)); }
  std::int64_t label(std::size_t index) const override { return labels_.at(chosen_.at(index)); }
  std::string characteristic(std::size_t which, std::size_t index) const override {
    return characteristics_.at(which).values.at(chosen_.at(index));
  }

  Batch read(std::span<const std::size_t> indices) const override {
    const auto elements = static_cast<std::size_t>(element_count(facts_.record_shape));
    const bool tokens = dtype() == DType::int64;
    require_memory(indices.size() * elements * (tokens ? 8 : 4), text_);
    std::vector<std::byte> bytes(indices.size() * elements * (tokens ? 8 : 4));
    parallel_for(indices.size(), indices.size() * elements > (1 << 16) ? available_threads() : 1,
                 [&](std::size_t i) {
                   std::byte* const at = bytes.data() + i * elements * (tokens ? 8 : 4);
                   source_->read(chosen_.at(indices[i]), at);
                   if (!tokens) transform(reinterpret_cast<float*>(at), elements, indices[i]);
                 });
    Batch batch;
    batch.indices.assign(indices.begin(), indices.end());
    Shape shape = facts_.record_shape;
    shape.insert(shape.begin(), static_cast<std::int64_t>(indices.size()));
    batch.inputs = Array(tokens ? DType::int64 : DType::float32, std::move(shape), std::move(bytes));
    batch.input_name = facts_.input_name;
    for (std::size_t o = 0; o < facts_.others.size(); ++o) batch.others.push_back(read_other(o, indices));
    for (const std::size_t i : indices) {
      if (has_labels()) batch.labels.push_back(label(i));
    }
    if (facts_.target_width > 0) {
      std::vector<float> targets;
      for (const std::size_t i : indices) {
        const std::vector<float> values = target(chosen_[i]);
        targets.insert(targets.end(), values.begin(), values.end());
      }
      batch.targets = Array::of<float>(
          {static_cast<std::int64_t>(indices.size()), static_cast<std::int64_t>(facts_.target_width)},
          targets);
    }
    return batch;
  }

 private:
  std::string description() const {
    std::string text = fmt::format("{} ({}, {} records {}", text_, source_->format(), chosen_.size(),
                                   to_string(record_shape()));
    for (const InputFacts& other : facts_.others)
      text += fmt::format(" + {} {}", other.name, to_string(other.record_shape));
    if (has_labels()) text += fmt::format(", {} classes", class_count());
    if (target_width() > 0)
      text += items_text_.empty() ? fmt::format(", {} targets", target_width()) : ", " + items_text_;
    if (source_->is_8bit() && !spec_.has("scale")) text += ", scaled by 1/255";
    return text + ")";
  }

  // Further inputs are taken as they are, but for pictures with channels last.
  NamedArray read_other(std::size_t which, std::span<const std::size_t> indices) const {
    const InputFacts& input = facts_.others[which];
    const std::size_t step =
        static_cast<std::size_t>(element_count(input.record_shape)) * size_of(input.dtype);
    std::vector<std::byte> bytes(indices.size() * step);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::byte* const at = bytes.data() + i * step;
      source_->read_other(which, chosen_.at(indices[i]), at);
      if (preparation_.from_channels_last && is_picture(input))
        put_channels_first({at, step}, static_cast<std::size_t>(input.record_shape[0]), size_of(input.dtype));
      if (input.dtype != DType::float32) continue;
      const std::span values(reinterpret_cast<const float*>(at), step / sizeof(float));
      if (!std::ranges::all_of(values, [](float v) { return std::isfinite(v); }))
        fail(Fault::data,
             "data '{}': input '{}' of record '{}' holds a NaN or an infinity; repair or leave it out", text_,
             input.name, id(indices[i]));
    }
    Shape shape = input.record_shape;
    shape.insert(shape.begin(), static_cast<std::int64_t>(indices.size()));
    return {input.name, Array(input.dtype, std::move(shape), std::move(bytes))};
  }

  static bool is_picture(const InputFacts& input) { return input.record_shape.size() == 3; }

  static void put_channels_first(std::span<std::byte> elements, std::size_t channels, std::size_t size) {
    const std::vector<std::byte> copy(elements.begin(), elements.end());
    const std::size_t plane = elements.size() / size / channels;
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t p = 0; p < plane; ++p)
        std::memcpy(&elements[(c * plane + p) * size], &copy[(p * channels + c) * size], size);
    }
  }

  // Records without elements could be any number, giant ones exhaust memory.
  void check_shape() const {
    constexpr std::int64_t most = std::int64_t{1} << 28;  // elements, 1 GiB of float32
    const std::int64_t elements = element_count(source_shape_);
    if (elements == 0)
      fail(Fault::data, "data '{}': records of shape {} have no elements", text_, to_string(source_shape_));
    if (elements > most) {
      fail(Fault::resources, "data '{}': records of shape {} are too large (at most {} elements)", text_,
           to_string(source_shape_), most);
    }
  }

  // The effect of layout, flatten, scale, mean, std and range on shapes and values.
  void prepare() {
    arrange();
    const std::int64_t channels = facts_.record_shape.empty() ? 1 : facts_.record_shape[0];
    if (spec_.integer("flatten", 0) == 1) facts_.record_shape = {element_count(facts_.record_shape)};
    const double scale = spec_.number("scale", source_->is_8bit() ? 1.0 / 255 : 1.0);
    const std::vector<double> mean = spec_.numbers("mean"), deviation = spec_.numbers("std");
    const std::optional<Bounds> bounds = bounds_of_values(scale);
    const std::size_t width = std::max({mean.size(), deviation.size(), std::size_t{1}}),
                      ranges = bounds ? bounds->low.size() : 1;
    for (const auto& [values, name] :
         {std::pair(mean.size(), "mean"), std::pair(deviation.size(), "std"), std::pair(ranges, "range")}) {
      if (values > 1 && static_cast<std::int64_t>(values) != channels)
        fail(Fault::usage, "data '{}': {} numbers in {} for {} channels", text_, values, name, channels);
    }
    preparation_.scale.assign(width, 0);
    preparation_.shift.assign(width, 0);
    for (std::size_t c = 0; c < width; ++c) {
      const double m = of_channel(mean, c, 0), s = of_channel(deviation, c, 1);
      if (!(s > 0)) fail(Fault::usage, "data '{}': std must be above 0", text_);
      preparation_.scale[c] = static_cast<float>(scale / s);
      preparation_.shift[c] = static_cast<float>(-m / s);
      if (preparation_.scale[c] == 0 || !std::isfinite(preparation_.scale[c]) ||
          !std::isfinite(preparation_.shift[c]))
        fail(Fault::usage, "data '{}': scale={}, mean={} and std={} leave nothing of the values", text_,
             scale, m, s);
    }
    if (!bounds) return;
    facts_.valid_range = ValidRange{};
    for (std::size_t c = 0; c < std::max(width, ranges); ++c)
      add_range(of_channel(bounds->low, c, 0), of_channel(bounds->high, c, 0), of_channel(mean, c, 0),
                of_channel(deviation, c, 1));
  }

  // Puts channels first.
  void arrange() {
    const std::string layout = spec_.text("layout", "nchw");
    if (layout != "nchw" && layout != "nhwc")
      fail(Fault::usage, "data option layout={}: nchw or nhwc", layout);
    preparation_.from_channels_last = layout == "nhwc";
    facts_.record_shape = source_shape_;
    if (preparation_.from_channels_last) {
      if (facts_.record_shape.size() < 2)
        fail(Fault::usage, "data '{}': layout=nhwc needs records with channels, these are {}", text_,
             to_string(facts_.record_shape));
      const auto put_first = [](Shape& shape) { std::rotate(shape.begin(), shape.end() - 1, shape.end()); };
      put_first(facts_.record_shape);
      for (InputFacts& other : facts_.others) {
        if (is_picture(other)) put_first(other.record_shape);
      }
    }
    if (facts_.record_shape.size() == 2 && source_->is_8bit())
      facts_.record_shape.insert(facts_.record_shape.begin(), 1);
  }

  // One number for all channels, or one for each; `none` where there is none.
  static double of_channel(const std::vector<double>& values, std::size_t c, double none) {
    return values.empty() ? none : values[values.size() == 1 ? 0 : c];
  }

  // Valid values before mean and std, one pair for all channels or one for each.
  struct Bounds {
    std::vector<double> low, high;
  };
  std::optional<Bounds> bounds_of_values(double scale) const {
    if (spec_.has("range")) return bounds_in(spec_.text("range"));
    if (const auto range = source_->valid_range())
      return Bounds{{range->low.begin(), range->low.end()}, {range->high.begin(), range->high.end()}};
    if (source_->is_8bit() && scale > 0) return Bounds{{0}, {255 * scale}};
    return std::nullopt;
  }

  // "0:1", or with a pair for each channel "-2.1:2.2+-2:2.4+-1.8:2.6".
  static Bounds bounds_in(const std::string& text) {
    Bounds bounds;
    for (const std::string& part : parts_of(text, "+")) {
      const std::size_t colon = part.find(':', 1);
      const DataSpec ends{
          .path = {},
          .options = {{"range", part.substr(0, colon)},
                      {"range's end", colon == std::string::npos ? "" : part.substr(colon + 1)}},
          .slices = {}};
      bounds.low.push_back(ends.number("range", 0));
      bounds.high.push_back(ends.number("range's end", 0));
      if (!(bounds.low.back() < bounds.high.back()))
        fail(Fault::usage,
             "data option range={}: LOW:HIGH such as 0:1, or one such pair for each channel, joined by +; "
             "before "
             "mean and std",
             text);
    }
    return bounds;
  }

  void add_range(double low, double high, double mean, double deviation) {
    const auto first = static_cast<float>((low - mean) / deviation),
               last = static_cast<float>((high - mean) / deviation);
    if (!(first < last) || !std::isfinite(first) || !std::isfinite(last))
      fail(Fault::usage, "data '{}': range {}:{} does not fit 32-bit numbers after mean and std", text_, low,
           high);
    facts_.valid_range->low.push_back(first);
    facts_.valid_range->high.push_back(last);
  }

  void transform(float* values, std::size_t elements, std::size_t index) const {
    if (preparation_.from_channels_last) {
      const auto channels = static_cast<std::size_t>(source_shape_.back());
      const std::vector<float> copy(values, values + elements);
      const std::size_t plane = elements / channels;
      for (std::size_t c = 0; c < channels; ++c) {
        for (std::size_t p = 0; p < plane; ++p) values[c * plane + p] = copy[p * channels + c];
      }
    }
    const std::size_t width = preparation_.scale.size(), plane = elements / width;
    bool finite = true;
    for (std::size_t c = 0; c < width; ++c) {
      const float scale = preparation_.scale[c], shift = preparation_.shift[c];
      float* const at = values + c * plane;
      if (scale != 1 || shift != 0) {
        for (std::size_t p = 0; p < plane; ++p) at[p] = at[p] * scale + shift;
      }
      for (std::size_t p = 0; p < plane; ++p) finite &= std::isfinite(at[p]);
    }
    if (!finite)
      fail(Fault::data, "data '{}': record '{}' holds a NaN or an infinity; repair or leave it out", text_,
           id(index));
  }

  void read_labels() {
    facts_.class_names = source_->class_names();
    const std::string file = spec_.text("labels");
    if (is_table_name(file)) {
      const CsvTable table = read_csv(file, decimal_of(spec_));
      const TableRows rows(table, spec_.text("id"), spec_.path);
      const std::size_t column =
          spec_.has("label") ? table.column(spec_.text("label")) : table.rows.at(0).size() - 1;
      for (std::size_t i = 0; i < source_->size(); ++i) {
        const double value = csv_number(table, rows.of(source_->id(i)), column);
        if (value != std::floor(value) || std::fabs(value) > 1e6) {
          fail(Fault::data, "{}: the label {} of record '{}' is not a class number", file, value,
               source_->id(i));
        }
        labels_.push_back(static_cast<std::int64_t>(value));
      }
      facts_.class_names.clear();
    } else if (!file.empty() && !source_->takes_labels()) {
      fail(Fault::usage, "data '{}': labels={} is not a table (.csv or .tsv), and {} knows no other", text_,
           file, source_->format());
    } else if (!spec_.has("targets") && !spec_.has("masks") && !spec_.has("boxes") && !spec_.has("texts")) {
      for (std::size_t i = 0; i < source_->size(); ++i) {
        const auto label = source_->label(i);
        if (!label) break;
        labels_.push_back(*label);
      }
    }
    std::int64_t greatest = -1;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (labels_[i] < 0 || labels_[i] > 1'000'000)
        fail(Fault::data, "data '{}': record '{}' has label {}, which is not a class number", text_,
             source_->id(i), labels_[i]);
      greatest = std::max(greatest, labels_[i]);
    }
    if (labels_.empty()) facts_.class_names.clear();
    for (auto c = static_cast<std::int64_t>(facts_.class_names.size()); c <= greatest; ++c)
      facts_.class_names.push_back(std::to_string(c));
    if (!spec_.has("relabel")) return;
    if (labels_.empty()) fail(Fault::usage, "data '{}': relabel= needs labels", text_);
    relabel(labels_, facts_.class_names, spec_.words("relabel"),
            static_cast<std::uint64_t>(spec_.integer("seed", 1)));
  }

  void read_characteristics() {
    characteristics_ = characteristics_of(spec_, *source_, source_ids());
    for (const Characteristic& one : characteristics_) facts_.characteristics.push_back(one.name);
  }

  // Throws where `option`, of labels of items, is not the only labels there are.
  void require_alone(const std::string& option) const {
    for (const char* const other : {"targets", "labels", "masks", "boxes", "texts"}) {
      if (other != option && spec_.has(other))
        fail(Fault::usage, "data '{}': {}= are the labels; leave out {}=", text_, option, other);
    }
  }

  void require_pictures(const std::string& option) const {
    if (facts_.record_shape.size() != 3)
      fail(Fault::usage, "data '{}': {}= are of pictures, and records are {}", text_, option,
           to_string(facts_.record_shape));
  }

  std::vector<std::string> source_ids() const {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < source_->size(); ++i) ids.push_back(source_->id(i));
    return ids;
  }

  // One number for each pixel of a record's picture.
  void find_masks() {
    require_pictures("masks");
    const MaskSize size{.height = static_cast<int>(facts_.record_shape[1]),
                        .width = static_cast<int>(facts_.record_shape[2]),
                        .resize = spec_.has("resize")};
    facts_.target_width = static_cast<std::size_t>(facts_.record_shape[1] * facts_.record_shape[2]);
    items_ = [this, size, masks = std::make_shared<const MaskFolder>(spec_.text("masks"))](
                 std::size_t record) { return mask_of(*masks, source_->id(record), size); };
  }

  // Rows of class and corners, as many a record as the one with most has.
  void find_boxes() {
    require_pictures("boxes");
    const auto boxes = std::make_shared<const BoxLabels>(
        read_boxes(spec_.text("boxes"), source_ids(), spec_.text("categories")));
    std::size_t rows = 1;
    for (const PictureBoxes& record : boxes->records) rows = std::max(rows, record.boxes.size());
    constexpr std::size_t most = 10'000;
    if (rows > most)
      fail(Fault::resources, "{}: a record has {} boxes, and at most {} are read", spec_.text("boxes"), rows,
           most);
    facts_.target_width = 5 * rows;
    facts_.class_names = boxes->class_names;
    items_text_ = fmt::format("up to {} boxes of {} classes", rows, class_count());
    const RecordSize size{.width = static_cast<double>(facts_.record_shape[2]),
                          .height = static_cast<double>(facts_.record_shape[1]),
                          .resized = spec_.has("resize")};
    items_ = [this, boxes, size, rows](std::size_t record) {
      return box_rows(boxes->records[record], size, rows, source_->id(record));
    };
  }

  // Numbers of characters, as many a record as the longest text has.
  void find_texts() {
    const std::string file = spec_.text("texts");
    const auto texts = std::make_shared<const std::vector<std::vector<char32_t>>>(
        is_table_name(file) ? texts_of_table(file) : read_texts(file, source_ids()));
    std::size_t width = 1;
    for (const auto& text : *texts) width = std::max(width, text.size());
    facts_.target_width = width;
    items_text_ = fmt::format("texts of up to {} characters", width);
    items_ = [texts, width](std::size_t record) { return text_row((*texts)[record], width); };
  }

  std::vector<std::vector<char32_t>> texts_of_table(const std::string& file) const {
    const CsvTable table = read_csv(file, decimal_of(spec_));
    const TableRows rows(table, spec_.text("id"), spec_.path);
    const std::size_t column =
        spec_.has("label") ? table.column(spec_.text("label")) : table.rows.at(0).size() - 1;
    std::vector<std::vector<char32_t>> texts;
    for (std::size_t i = 0; i < source_->size(); ++i) {
      texts.push_back(text_characters(table.rows[rows.of(source_->id(i))][column],
                                      fmt::format("{}: record '{}'", file, source_->id(i))));
    }
    return texts;
  }

  void read_targets() {
    for (const auto& [option, find] :
         {std::pair("boxes", &Prepared::find_boxes), std::pair("masks", &Prepared::find_masks),
          std::pair("texts", &Prepared::find_texts)}) {
      if (!spec_.has(option)) continue;
      require_alone(option);
      (this->*find)();
      return;
    }
    if (spec_.has("targets")) {
      const std::string file = spec_.text("targets");
      const CsvTable table = read_csv(file, decimal_of(spec_));
      const TableRows rows(table, spec_.text("id"), spec_.path);
      std::vector<std::size_t> columns;
      for (const std::string& name : spec_.words("target")) columns.push_back(table.column(name));
      if (columns.empty()) columns.push_back(table.rows.at(0).size() - 1);
      facts_.target_width = columns.size();
      for (std::size_t i = 0; i < source_->size(); ++i) {
        const std::size_t row = rows.of(source_->id(i));
        for (const std::size_t column : columns)
          targets_.push_back(static_cast<float>(csv_number(table, row, column)));
      }
      return;
    }
    if (source_->size() > 0) facts_.target_width = source_->target(0).size();
  }

  std::vector<float> target(std::size_t record) const {
    if (items_) return items_(record);
    std::vector<float> values =
        targets_.empty()
            ? source_->target(record)
            : std::vector<float>(
                  targets_.begin() + static_cast<std::ptrdiff_t>(record * facts_.target_width),
                  targets_.begin() + static_cast<std::ptrdiff_t>((record + 1) * facts_.target_width));
    for (const float v : values) {
      if (!std::isfinite(v))
        fail(Fault::data, "data '{}': the target of record '{}' is not finite", text_, source_->id(record));
    }
    return values;
  }

  // Records that a file names, class subsets and samples first, then slices in the order written.
  void choose() {
    if (spec_.has("ids")) choose_named(spec_.text("ids"));
    const std::vector<std::string> classes = spec_.words("classes");
    if (!classes.empty() || spec_.has("per_class")) {
      if (labels_.empty()) fail(Fault::usage, "data '{}': classes= and per_class= need labels", text_);
    }
    if (!classes.empty()) {
      std::set<std::int64_t> wanted;
      for (const std::string& name : classes) {
        const auto it = std::find(facts_.class_names.begin(), facts_.class_names.end(), name);
        if (it == facts_.class_names.end())
          fail(Fault::usage, "data '{}': no class is named '{}'{}", text_, name,
               did_you_mean(name, facts_.class_names));
        wanted.insert(it - facts_.class_names.begin());
      }
      std::erase_if(chosen_, [&](std::size_t i) { return !wanted.contains(labels_[i]); });
    }
    const auto seed = static_cast<std::uint64_t>(spec_.integer("seed", 1));
    if (spec_.has("per_class")) choose_per_class(seed);
    if (spec_.has("sample"))
      keep(Rng(seed).sample(chosen_.size(),
                            wanted_count("sample", spec_.integer("sample", 0), chosen_.size())));
    for (const Slice& slice : spec_.slices) keep(slice_positions(slice, chosen_.size()));
  }

  // Those whose ids stand in the file, a line each, in its order.
  void choose_named(const std::string& file) {
    std::multimap<std::string, std::size_t> places;
    for (const std::size_t i : chosen_) places.emplace(id_line(source_->id(i)), i);
    std::set<std::string> seen;
    std::vector<std::size_t> named;
    for (const std::string& line : id_lines(file)) {
      if (!seen.insert(line).second) fail(Fault::data, "{}: the id '{}' occurs twice", file, line);
      const auto [begin, end] = places.equal_range(line);
      if (begin == end) fail(Fault::data, "{}: no record of {} has the id '{}'", file, spec_.path, line);
      for (auto place = begin; place != end; ++place) named.push_back(place->second);
    }
    chosen_ = std::move(named);
  }

  // per_class=22+cat:802: 802 records of the class cat and 22 of every other; without a plain number the
  // others go.
  void choose_per_class(std::uint64_t seed) {
    std::map<std::int64_t, std::int64_t> counts;
    std::optional<std::int64_t> others;
    for (const std::string& word : spec_.words("per_class")) {
      const std::size_t colon = word.rfind(':');
      const std::string number = colon == std::string::npos ? word : word.substr(colon + 1);
      const auto count = number_of<std::int64_t>(number);
      if (!count) fail(Fault::usage, "data '{}': per_class={} is not a number", text_, word);
      if (colon == std::string::npos && others)
        fail(Fault::usage, "data '{}': per_class= gives two numbers, {} and {}, for every class", text_,
             *others, *count);
      if (colon == std::string::npos) {
        others = count;
        continue;
      }
      const auto name =
          std::find(facts_.class_names.begin(), facts_.class_names.end(), word.substr(0, colon));
      if (name == facts_.class_names.end())
        fail(Fault::usage, "data '{}': no class is named '{}'{}", text_, word.substr(0, colon),
             did_you_mean(word.substr(0, colon), facts_.class_names));
      if (!counts.emplace(name - facts_.class_names.begin(), *count).second)
        fail(Fault::usage, "data '{}': per_class= names class '{}' twice", text_, *name);
    }
    std::map<std::int64_t, std::vector<std::size_t>> members;
    for (const std::size_t i : chosen_) members[labels_[i]].push_back(i);
    chosen_.clear();
    for (const auto& [label, all] : members) {
      const auto own = counts.find(label);
      if (own == counts.end() && !others) continue;
      const std::size_t count =
          wanted_count("per_class", own == counts.end() ? *others : own->second, all.size());
      for (const std::size_t p : Rng(seed, {static_cast<std::uint64_t>(label)}).sample(all.size(), count))
        chosen_.push_back(all[p]);
    }
    std::sort(chosen_.begin(), chosen_.end());
  }

  std::size_t wanted_count(const std::string& key, std::int64_t count, std::size_t available) const {
    if (count < 1 || static_cast<std::size_t>(count) > available) {
      fail(Fault::usage, "data '{0}': {1}={2}, but there are {3} records; choose 1 to {3}", text_, key, count,
           available);
    }
    return static_cast<std::size_t>(count);
  }

  void keep(const std::vector<std::size_t>& positions) {
    std::vector<std::size_t> kept;
    for (const std::size_t p : positions) kept.push_back(chosen_[p]);
    chosen_ = std::move(kept);
  }

  DataSpec spec_;
  std::string text_;
  std::unique_ptr<Source> source_;
  Shape source_shape_;
  Preparation preparation_;
  std::vector<std::size_t> chosen_;   // source positions
  std::vector<std::int64_t> labels_;  // by source position
  std::vector<float> targets_;
  std::vector<Characteristic> characteristics_;                  // by source position
  std::function<std::vector<float>(std::size_t record)> items_;  // labels of items, where there are any
  std::string items_text_;                                       // what they are
};

const FormatInfo& format_of(const DataSpec& spec) {
  if (spec.has("format")) return data_formats().find(spec.text("format"));
  // A format may be known by its name alone ("digits:1000"), with no file behind it.
  std::error_code ignored;
  const bool exists = std::filesystem::exists(spec.path, ignored);
  for (const FormatInfo& format : data_formats()) {
    if (!exists && format.recognises(spec.path, {}) && spec.path.find(':') != std::string::npos)
      return format;
  }
  const std::string head = read_head(spec.path, 64);
  for (const FormatInfo& format : data_formats()) {
    if (format.recognises(spec.path, head)) return format;
  }
  fail(Fault::data, "{}: not a data format Assay knows ({}); say format=NAME if it is one of them", spec.path,
       joined(data_formats().names()));
}

DatasetPtr open_one(const std::string& text) {
  const DataSpec spec = parse_spec(text);
  if (is_named(spec.path)) return open_named(spec);
  refuse_pointer(spec.path, spec.path);
  const FormatInfo& format = format_of(spec);
  check_options(spec, text, format);
  check_values(spec, text, format);
  return std::make_shared<Prepared>(spec, text, format.open(spec));
}

}  // namespace

DatasetPtr open_dataset(const std::string& text) {
  if (text.find('\0') != std::string::npos)
    fail(Fault::usage, "data '{}': a file name cannot contain a NUL character",
         text.substr(0, text.find('\0')));
  std::vector<DatasetPtr> parts;
  for (const std::string& part : joined_specs(text)) {
    try {
      parts.push_back(open_one(part));
    } catch (const std::filesystem::filesystem_error& error) {
      fail(Fault::io, "{}: {}", error.path1().empty() ? part : error.path1().string(),
           error.code().message());
    }
  }
  return joined(std::move(parts));
}

}  // namespace assay
