// Records of NumPy's arrays. Inputs are read when they are requested; labels, targets and ids are in memory.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/data_format.h>
#include "assay/data/bytes.h"
#include "assay/data/characteristics.h"
#include "assay/data/files/csv.h"
#include "assay/data/files/filling.h"
#include "assay/data/files/npy_rows.h"
#include "assay/data/files/numpy.h"
#include "assay/data/rows.h"
#include "assay/support/files/file.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

// An input after the first one.
struct OtherRows {
  std::string name;
  NpyRows rows;
  // Integers are delivered as int64, others as float32.
  DType type() const { return is_real(rows.dtype()) ? DType::float32 : DType::int64; }
};

// What is in an archive apart from inputs and outputs.
struct Told {
  std::optional<Array> ids = {}, class_names = {}, valid_range = {};
  std::string passed_over = {};                // texts where outputs are looked for
  std::map<std::string, Array> columns = {};   // of meta=
  std::vector<std::string> column_names = {};  // that could be
  std::string filling = {};                    // the array that says which steps have labels
};

class NumpySource final : public Source {
 public:
  NumpySource(const DataSpec& spec, NpyRows inputs, const std::optional<Array>& outputs, Told told = {},
              std::string name = {}, std::vector<OtherRows> others = {})
      : path_(spec.path),
        name_(std::move(name)),
        passed_over_(std::move(told.passed_over)),
        filling_(std::move(told.filling)),
        column_names_(std::move(told.column_names)),
        inputs_(std::move(inputs)),
        others_(std::move(others)) {
    const Shape& shape = inputs_.shape();
    shape_.assign(shape.begin() + 1, shape.end());
    if (outputs) {
      require_upright(picture_shape(spec.text("layout", "nchw") == "nhwc"), outputs->shape(), path_);
      take_outputs(*outputs);
    }
    if (told.ids) ids_ = names(*told.ids, "ids", size(), "record");
    if (told.class_names) class_names_ = names(*told.class_names, "class_names", std::nullopt, "class");
    if (told.valid_range) take_range(*told.valid_range);
    for (const auto& [column, values] : told.columns) columns_.emplace(column, texts_of(column, values));
    for (const OtherRows& other : others_) require_fitting(other);
  }

  std::size_t size() const override { return inputs_.shape()[0]; }
  Shape shape() const override { return shape_; }
  DType dtype() const override {
    const bool tokens = !is_real(inputs_.dtype()) && size_of(inputs_.dtype()) > 1;
    return tokens ? DType::int64 : DType::float32;
  }
  bool is_8bit() const override { return inputs_.dtype() == DType::uint8; }
  std::string input_name() const override { return name_; }
  std::vector<InputFacts> others() const override {
    std::vector<InputFacts> facts;
    for (const OtherRows& other : others_) {
      const Shape& shape = other.rows.shape();
      facts.push_back({other.name, {shape.begin() + 1, shape.end()}, other.type()});
    }
    return facts;
  }
  void read_other(std::size_t which, std::size_t index, void* out) const override {
    others_[which].rows.read(index, others_[which].type(), out);
  }
  std::string id(std::size_t index) const override {
    return ids_.empty() ? std::to_string(index) : ids_[index];
  }
  std::optional<std::int64_t> label(std::size_t index) const override {
    if (labels_.empty()) return std::nullopt;
    return labels_[index];
  }
  std::vector<std::string> class_names() const override { return class_names_; }
  std::optional<ValidRange> valid_range() const override { return range_; }
  bool takes_labels() const override { return path_.ends_with(".npy"); }
  std::vector<float> target(std::size_t index) const override {
    if (width_ == 0) return {};
    const auto values = targets_.as<float>().subspan(index * width_, width_);
    return {values.begin(), values.end()};
  }
  std::optional<std::vector<std::string>> column(const std::string& name) const override {
    const auto found = columns_.find(name);
    return found == columns_.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<std::string> columns() const override { return column_names_; }
  void read(std::size_t index, void* out) const override { inputs_.read(index, dtype(), out); }
  std::string format() const override {
    std::string text = "NumPy";
    if (!passed_over_.empty()) text += fmt::format(", texts in '{}' passed over as labels", passed_over_);
    if (!filling_.empty()) text += fmt::format(", steps that '{}' leaves out do not count", filling_);
    return text;
  }

 private:
  // Of a record as it will be given out: channels first, shades of grey with a channel of their own.
  Shape picture_shape(bool channels_last) const {
    Shape picture = shape_;
    if (channels_last && picture.size() == 3) std::ranges::rotate(picture, picture.end() - 1);
    if (picture.size() == 2 && is_8bit()) picture.insert(picture.begin(), 1);
    return picture;
  }

  // Integers, one per record or one-hot rows, are classes; anything else are targets of a regression or of
  // the items of a record.
  void take_outputs(const Array& outputs) {
    const Shape& shape = outputs.shape();
    if (shape.empty() || shape[0] != inputs_.shape()[0]) {
      fail(Fault::data, "{}: outputs of shape {} do not fit {} records; give a row for each", path_,
           to_string(shape), inputs_.shape()[0]);
    }
    const std::int64_t width = shape[0] == 0 ? 1 : outputs.count() / shape[0];
    const bool floating = is_real(outputs.dtype());
    const Array values = outputs.to(DType::float32);
    if (width == 1 && !floating) {
      require_int64(outputs, fmt::format("{}: the labels", path_));
      const Array classes = outputs.to(DType::int64);
      labels_.assign(classes.as<std::int64_t>().begin(), classes.as<std::int64_t>().end());
    } else if (width > 1 && shape.size() == 2 && filling_.empty() && is_one_hot(values.as<float>(), width)) {
      const auto flags = values.as<float>();
      for (std::size_t i = 0; i < flags.size(); ++i) {
        if (flags[i] == 1.0F) labels_.push_back(i % static_cast<std::size_t>(width));
      }
    } else {
      targets_ = values;
      width_ = width;
    }
  }

  // One row of bytes per name, filled up with zeros.
  std::vector<std::string> names(const Array& rows, const std::string& name, std::optional<std::size_t> count,
                                 const std::string& of) const {
    if (rows.dtype() != DType::uint8 || rows.shape().size() != 2 ||
        (count && rows.shape()[0] != static_cast<std::int64_t>(*count)))
      fail(Fault::data, "{}: '{}' must be one row of bytes (uint8) per {}, not {} of {} for {} records",
           path_, name, of, to_string(rows.shape()), to_string(rows.dtype()), inputs_.shape()[0]);
    return names_in(rows);
  }

  // Texts as names(), or one number a record; NaN is not known.
  std::vector<std::string> texts_of(const std::string& name, const Array& values) const {
    if (values.dtype() == DType::uint8 && values.shape().size() == 2 && values.shape()[1] > 1)
      return names(values, name, size(), "record");
    if (values.count() != static_cast<std::int64_t>(size()))
      fail(Fault::data, "{}: '{}' of shape {} is not one value for each of {} records", path_, name,
           to_string(values.shape()), size());
    const bool floating = is_real(values.dtype());
    const bool large = values.dtype() == DType::uint64;
    const Array numbers = large ? values : values.to(floating ? DType::float64 : DType::int64);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < size(); ++i) {
      const double real = floating ? numbers.as<double>()[i] : 0;
      texts.push_back(large              ? std::to_string(numbers.as<std::uint64_t>()[i])
                      : !floating        ? std::to_string(numbers.as<std::int64_t>()[i])
                      : std::isnan(real) ? std::string()
                                         : fmt::format("{}", real));
    }
    return texts;
  }

  // A row of least values and one of greatest.
  void take_range(const Array& range) {
    const Array ends = range.to(DType::float32);
    const std::size_t width = static_cast<std::size_t>(ends.count()) / 2;
    if (ends.shape().empty() || ends.shape()[0] != 2 || width == 0)
      fail(Fault::data,
           "{}: 'valid_range' of shape {} is not a least and a greatest value, or such rows by channel",
           path_, to_string(ends.shape()));
    const auto values = ends.as<float>();
    range_ = ValidRange{{values.begin(), values.begin() + width}, {values.begin() + width, values.end()}};
    for (std::size_t c = 0; c < width; ++c) {
      if (!(range_->low[c] < range_->high[c]))
        fail(Fault::data, "{}: 'valid_range' contains {} to {}, which is not a range", path_, range_->low[c],
             range_->high[c]);
    }
  }

  void require_fitting(const OtherRows& other) const {
    const Shape& shape = other.rows.shape();
    if (shape[0] != inputs_.shape()[0] || element_count(shape) == 0)
      fail(Fault::data,
           "{}: input '{}' of shape {} does not fit {} records of input '{}'; if its records lie along "
           "another axis, add axis={}:NUMBER",
           path_, other.name, to_string(shape), inputs_.shape()[0], name_, other.name);
  }

  static bool is_one_hot(std::span<const float> values, std::size_t width) {
    for (std::size_t row = 0; row < values.size(); row += width) {
      std::size_t ones = 0;
      for (std::size_t i = 0; i < width; ++i) {
        if (values[row + i] != 0.0F && values[row + i] != 1.0F) return false;
        ones += values[row + i] == 1.0F;
      }
      if (ones != 1) return false;
    }
    return true;
  }

  std::string path_, name_, passed_over_, filling_;
  std::vector<std::string> column_names_;
  std::map<std::string, std::vector<std::string>> columns_;
  NpyRows inputs_;
  std::vector<OtherRows> others_;
  Array targets_;
  std::vector<std::int64_t> labels_;
  std::vector<std::string> ids_, class_names_;
  std::optional<ValidRange> range_;
  std::size_t width_ = 0;
  Shape shape_;
};

constexpr std::string_view numbered_classes =
    ": classes are whole numbers from 0 (numpy.unique(y, return_inverse=True)[1]), or names in a table that "
    "labels=FILE.csv names";

bool may_be_text(const std::string& name) { return name == "ids" || name == "class_names"; }

// Names of arrays that may stand for something.
std::vector<std::string> array_names(const NpzFile& archive) {
  std::vector<std::string> names;
  for (const NpzEntry& entry : archive.entries()) {
    if (!entry.header.is_text() || may_be_text(entry.name)) names.push_back(entry.name);
  }
  std::ranges::sort(names);
  return names;
}

const NpzEntry* find_array(const NpzFile& archive, const std::string& name) {
  const NpzEntry* const entry = archive.find(name);
  return entry != nullptr && entry->header.is_text() && !may_be_text(name) ? nullptr : entry;
}

const NpzEntry& array_named(const NpzFile& archive, const DataSpec& spec, const std::string& name) {
  if (const NpzEntry* const entry = find_array(archive, name)) return *entry;
  if (archive.find(name) != nullptr)
    fail(Fault::data, "{}: array '{}' holds text, and numbers are needed{}", spec.path, name,
         name == spec.text("y") ? numbered_classes : "");
  fail(Fault::data, "{}: no array is named '{}'; there are {}", spec.path, name,
       support::joined(array_names(archive)));
}

// The array for a role: the one named by the option, else one of the usual names.
const NpzEntry* array_for(const NpzFile& archive, const DataSpec& spec, const std::string& role,
                          const std::vector<std::string>& usual) {
  if (spec.has(role)) return &array_named(archive, spec, spec.text(role));
  for (const std::string& name : usual) {
    if (const NpzEntry* const entry = find_array(archive, name)) return entry;
  }
  return nullptr;
}

// Arrays that are characteristics of the records.
std::vector<std::string> meta_names(const DataSpec& spec) {
  return spec.has("metadata") ? std::vector<std::string>{} : column_names(spec.words("meta"));
}

void add_columns(const NpzFile& archive, const DataSpec& spec, Told& told) {
  for (const NpzEntry& entry : archive.entries()) told.column_names.push_back(entry.name);
  for (const std::string& name : meta_names(spec)) {
    if (const NpzEntry* const entry = archive.find(name))
      told.columns.emplace(name, *npz_array(archive, *entry, /*all_texts=*/true));
  }
}

// Where no array has a usual name: all arrays except outputs and what is told of records, as many rows each.
// They have the names of the network's inputs.
std::vector<OtherRows> remaining_inputs(const NpzFile& archive, const DataSpec& spec,
                                        const std::vector<std::string>& usual_y) {
  const std::string y = spec.text("y");
  const std::vector<std::string> meta = meta_names(spec);
  std::vector<OtherRows> inputs;
  for (const NpzEntry& entry : archive.entries()) {
    const bool other = entry.header.is_text() || may_be_text(entry.name) || entry.name == "valid_range" ||
                       entry.name == y || std::ranges::find(meta, entry.name) != meta.end() ||
                       (y.empty() && std::ranges::find(usual_y, entry.name) != usual_y.end());
    if (other) continue;
    const bool fits =
        !entry.header.shape.empty() && (inputs.empty() || entry.header.shape[0] == inputs[0].rows.shape()[0]);
    if (!fits) return {};
    inputs.push_back({entry.name, NpyRows(archive, entry)});
  }
  if (inputs.size() == 1) inputs[0].name.clear();
  return inputs;
}

// inputs=ids+mask: one array for each input of the network, which has the same name.
std::vector<OtherRows> named_inputs(const NpzFile& archive, const DataSpec& spec) {
  if (spec.has("x"))
    fail(Fault::usage, "{}: x= names the only input and inputs= several; say one of them", spec.path);
  std::vector<OtherRows> inputs;
  for (const std::string& name : spec.words("inputs")) {
    const NpzEntry& entry = array_named(archive, spec, name);
    if (std::ranges::find(inputs, name, &OtherRows::name) != inputs.end())
      fail(Fault::usage, "{}: inputs= names '{}' twice", spec.path, name);
    inputs.push_back({name, NpyRows(archive, entry)});
  }
  return inputs;
}

// axis=1 of the only input, axis=state:1+memory:1 of some of several: where records lie. Returns whether it
// says something of the input.
bool put_as_told(const DataSpec& spec, OtherRows& input, bool is_only) {
  for (const std::string& part : spec.words("axis")) {
    const std::size_t colon = part.rfind(':');
    if (colon == std::string::npos && !is_only)
      fail(Fault::usage, "{}: which input is axis={} for? write axis=NAME:{}", spec.path, part, part);
    if (colon != std::string::npos && part.substr(0, colon) != input.name) continue;
    const auto axis =
        number_of<std::int64_t>(std::string_view(part).substr(colon == std::string::npos ? 0 : colon + 1));
    if (!axis)
      fail(Fault::usage, "{}: axis={}: the number of an axis is needed, such as axis=1 or axis=state:1",
           spec.path, part);
    input.rows.put_records_first(*axis);
    return true;
  }
  return false;
}

void require_named_inputs(const DataSpec& spec, const std::vector<OtherRows>& inputs) {
  for (const std::string& part : spec.words("axis")) {
    const std::size_t colon = part.rfind(':');
    if (colon == std::string::npos ||
        std::ranges::find(inputs, part.substr(0, colon), &OtherRows::name) != inputs.end())
      continue;
    fail(Fault::usage, "{}: axis={} names no input; inputs= does", spec.path, part);
  }
}

// How many records there are: what most inputs have along their first axis, the greatest of such numbers.
std::int64_t count_of(const std::vector<OtherRows>& inputs, const std::optional<Array>& outputs) {
  if (outputs && !outputs->shape().empty()) return outputs->shape()[0];
  std::map<std::int64_t, std::size_t> votes;
  for (const OtherRows& input : inputs) ++votes[input.rows.shape()[0]];
  std::int64_t best = 0;
  for (const auto& [count, of_that] : votes) {
    if (of_that >= votes[best]) best = count;
  }
  return best;
}

// Records first in all inputs: as axis= says, or along the only axis that has as many positions as there are
// records, where that is not the first one.
void put_records_first(const DataSpec& spec, std::vector<OtherRows>& inputs,
                       const std::optional<Array>& outputs) {
  require_named_inputs(spec, inputs);
  std::vector<OtherRows*> untold;
  for (OtherRows& input : inputs) {
    if (!put_as_told(spec, input, inputs.size() == 1)) untold.push_back(&input);
  }
  if (inputs.size() == 1) return;
  const std::int64_t records = count_of(inputs, outputs);
  for (OtherRows* const input : untold) {
    const Shape& shape = input->rows.shape();
    if (shape[0] != records && std::ranges::count(shape, records) == 1)
      input->rows.put_records_first(std::ranges::find(shape, records) - shape.begin());
  }
}

// lengths=NAME or mask=NAME: labels of steps that are filled up do not count. Returns the name.
std::string leave_out_filling(const NpzFile& archive, const DataSpec& spec, std::optional<Array>& outputs) {
  const bool is_mask = spec.has("mask");
  if (!is_mask && !spec.has("lengths")) return {};
  const std::string role = is_mask ? "mask" : "lengths", name = spec.text(role);
  if (is_mask && spec.has("lengths"))
    fail(Fault::usage, "{}: lengths= and mask= say the same; give one of them", spec.path);
  const NpzEntry& entry = array_named(archive, spec, name);
  if (!outputs)
    fail(Fault::usage, "{}: {}= leaves out labels of steps that are filled up, and there are no labels",
         spec.path, role);
  outputs = without_filling(*outputs, *npz_array(archive, entry), is_mask,
                            fmt::format("{}: {}={}", spec.path, role, name));
  return name;
}

std::unique_ptr<Source> open_npz(const DataSpec& spec) {
  const NpzFile archive(spec.path);
  const std::string part = spec.text("part");
  const std::vector<std::string> usual_x =
      part.empty() ? std::vector<std::string>{"x", "X", "inputs", "images", "data", "arr_0", "x_train"}
                   : std::vector<std::string>{"x_" + part};
  const std::vector<std::string> usual_y =
      part.empty() ? std::vector<std::string>{"y", "Y", "labels", "targets", "arr_1", "y_train"}
                   : std::vector<std::string>{"y_" + part};
  std::vector<OtherRows> inputs;
  if (spec.has("inputs")) {
    inputs = named_inputs(archive, spec);
  } else if (const NpzEntry* const x = array_for(archive, spec, "x", usual_x)) {
    inputs.push_back({"", NpyRows(archive, *x)});
  } else if (part.empty()) {
    inputs = remaining_inputs(archive, spec, usual_y);
  }
  if (inputs.empty())
    fail(Fault::data,
         "{}: which array holds the inputs? there are {}; say x=NAME, or inputs=NAME+NAME of a network that "
         "takes "
         "several",
         spec.path, support::joined(array_names(archive)));
  const auto whole = [&](const NpzEntry* entry) {
    return entry == nullptr ? std::nullopt : npz_array(archive, *entry);
  };
  // An input of token ids may be called so as well.
  const bool ids_are_input =
      spec.text("x") == "ids" || std::ranges::find(inputs, "ids", &OtherRows::name) != inputs.end();
  // An array that is named as an input is not a label, whatever its name.
  std::vector<std::string> other_y = usual_y;
  std::erase_if(other_y, [&](const std::string& name) {
    return spec.text("x") == name || std::ranges::find(inputs, name, &OtherRows::name) != inputs.end();
  });
  auto outputs = whole(array_for(archive, spec, "y", other_y));
  const std::string filling = leave_out_filling(archive, spec, outputs);
  const NpzEntry* const class_names = archive.find("class_names");
  const bool are_names =
      class_names != nullptr && (class_names->header.is_text() ||
                                 (class_names->header.type == "u1" && class_names->header.shape.size() == 2));
  Told told{whole(ids_are_input ? nullptr : archive.find("ids")),
            whole(are_names ? class_names : nullptr),
            whole(archive.find("valid_range")),
            {}};
  told.filling = filling;
  add_columns(archive, spec, told);
  for (const std::string& name : other_y) {
    if (!outputs && told.passed_over.empty() && archive.find(name) != nullptr) told.passed_over = name;
  }
  put_records_first(spec, inputs, outputs);
  OtherRows first = std::move(inputs.front());
  inputs.erase(inputs.begin());
  return std::make_unique<NumpySource>(spec, std::move(first.rows), outputs, std::move(told),
                                       std::move(first.name), std::move(inputs));
}

std::unique_ptr<Source> open_numpy(const DataSpec& spec) {
  require_file(spec.path);
  if (spec.path.ends_with(".npz")) return open_npz(spec);
  for (const char* option : {"x", "part", "inputs", "lengths", "mask"}) {
    if (spec.has(option))
      fail(Fault::usage, "{}: {}= chooses among the arrays of an .npz archive; this is one array", spec.path,
           option);
  }
  if (spec.has("y") && spec.has("labels"))
    fail(Fault::usage, "{}: y= and labels= name the same; say one of them", spec.path);
  const std::string labels = spec.text("labels"), y = spec.text("y", labels);
  if (spec.has("y") && !y.ends_with(".npy"))
    fail(Fault::usage,
         "{}: y={} is not an .npy file; tables are named by labels=FILE.csv or targets=FILE.csv", spec.path,
         y);
  std::optional<Array> outputs;
  if (!y.empty() && !is_table_name(y)) outputs = parse_npy(read_file(y), y);
  std::vector<OtherRows> inputs;
  inputs.push_back({"", NpyRows(spec.path)});
  put_records_first(spec, inputs, outputs);
  return std::make_unique<NumpySource>(spec, std::move(inputs[0].rows), outputs);
}

}  // namespace

FormatInfo numpy_format() {
  return {
      "numpy",
      ".npy arrays (labels: y=FILE.npy) and .npz archives; x=NAME and y=NAME choose arrays, part=test takes "
      "x_test and y_test",
      {"x", "y", "part", "inputs", "axis", "lengths", "mask"},
      [](const fs::path& path, std::string_view head) {
        return head.starts_with("\x93NUMPY") || (head.starts_with("PK") && path.extension() == ".npz");
      },
      open_numpy};
}

}  // namespace assay::inline data
