#include "assay/data/views.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/data/characteristics.h"
#include "assay/data/given.h"
#include "assay/data/tokenized.h"
#include "assay/support/files/hash.h"

namespace assay::inline data {
namespace {

// Has the facts, ids and labels of the data set below until told otherwise.
class View : public Dataset, public FromTexts {
 public:
  explicit View(DatasetPtr below) : Dataset(given_data(below)->facts()), below_(std::move(below)) {}
  std::string id(std::size_t index) const override { return below_->id(index); }
  std::int64_t label(std::size_t index) const override { return below_->label(index); }
  std::string characteristic(std::size_t which, std::size_t index) const override {
    return below_->characteristic(which, index);
  }
  const text::Tokenizer* tokenizer() const override { return tokenizer_of(*below_); }

 protected:
  const Dataset& below() const { return *below_; }

 private:
  DatasetPtr below_;
};

// One array of `count` rows, put together from pieces whose row i goes to place rows[i].
class Interleaved {
 public:
  Interleaved(const InputFacts& input, std::size_t count)
      : input_(input),
        count_(count),
        step_(element_count(input.record_shape) * size_of(input.dtype)),
        bytes_(count * step_) {}
  void take(const Array& piece, std::span<const std::size_t> rows) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::copy_n(piece.data() + i * step_, step_, bytes_.data() + rows[i] * step_);
  }
  Array array() {
    Shape shape = input_.record_shape;
    shape.insert(shape.begin(), count_);
    return Array(input_.dtype, std::move(shape), std::move(bytes_));
  }

 private:
  InputFacts input_;
  std::size_t count_, step_;
  std::vector<std::byte> bytes_;
};

class Joined final : public View {
 public:
  explicit Joined(std::vector<DatasetPtr> parts) : View(parts.front()), parts_(std::move(parts)) {
    for (const DatasetPtr& part : parts_) {
      check(*part);
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) + part->size());
    }
    facts_.size = ends_.back();
    facts_.description.clear();
    for (const DatasetPtr& part : parts_)
      facts_.description += (facts_.description.empty() ? "" : " + ") + part->describe();
  }

  std::string id(std::size_t index) const override {
    const auto [part, place] = find(index);
    return parts_[part]->id(place);
  }
  std::int64_t label(std::size_t index) const override {
    const auto [part, place] = find(index);
    return parts_[part]->label(place);
  }
  // Of a part without that column nothing is known.
  std::string characteristic(std::size_t which, std::size_t index) const override {
    const auto [part, place] = find(index);
    const std::vector<std::string>& there = parts_[part]->characteristics();
    const auto column = std::ranges::find(there, characteristics().at(which));
    if (column == there.end()) return {};
    return parts_[part]->characteristic(column - there.begin(), place);
  }
  // Where it is one and the same.
  const text::Tokenizer* tokenizer() const override {
    const text::Tokenizer* const first = tokenizer_of(*parts_.front());
    const bool same = first != nullptr && std::ranges::all_of(parts_, [&](const DatasetPtr& part) {
                        const text::Tokenizer* const one = tokenizer_of(*part);
                        return one != nullptr && one->name() == first->name();
                      });
    return same ? first : nullptr;
  }

  Batch read(std::span<const std::size_t> indices) const override {
    std::vector<std::vector<std::size_t>> wanted(parts_.size()), rows(parts_.size());
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto [part, place] = find(indices[row]);
      wanted[part].push_back(place);
      rows[part].push_back(row);
    }
    Batch batch;
    batch.indices.assign(indices.begin(), indices.end());
    batch.input_name = facts_.input_name;
    Interleaved inputs({{}, record_shape(), dtype()}, indices.size());
    Interleaved targets({{}, {static_cast<std::int64_t>(target_width())}, DType::float32}, indices.size());
    std::vector<Interleaved> others;
    for (const InputFacts& other : facts_.others) others.emplace_back(other, indices.size());
    if (has_labels()) batch.labels.resize(indices.size());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (wanted[p].empty()) continue;
      const Batch piece = read_as_promised(*parts_[p], wanted[p]);
      inputs.take(piece.inputs, rows[p]);
      if (target_width() > 0) targets.take(piece.targets, rows[p]);
      for (std::size_t o = 0; o < others.size(); ++o) others[o].take(piece.others[o].values, rows[p]);
      for (std::size_t i = 0; has_labels() && i < rows[p].size(); ++i)
        batch.labels[rows[p][i]] = piece.labels[i];
    }
    batch.inputs = inputs.array();
    if (target_width() > 0) batch.targets = targets.array();
    for (std::size_t o = 0; o < others.size(); ++o)
      batch.others.push_back({facts_.others[o].name, others[o].array()});
    return batch;
  }

  std::string hash() const override {
    Hasher hasher;
    hasher.text("joined");
    for (const DatasetPtr& part : parts_) hasher.text(part->hash());
    return hasher.hex();
  }

 private:
  void check(const Dataset& part) const {
    const auto differ = [&](const char* what, const auto& here, const auto& there) {
      fail(Fault::mismatch, "{} and {} cannot be joined: {} {} and {}", below().describe(), part.describe(),
           what, here, there);
    };
    if (part.record_shape() != record_shape())
      differ("record shapes", to_string(record_shape()), to_string(part.record_shape()));
    if (part.dtype() != dtype()) differ("element types", to_string(dtype()), to_string(part.dtype()));
    check_inputs(part);
    if (has_labels()) {
      if (!part.has_labels())
        fail(Fault::mismatch, "{} has no labels, but {} has", part.describe(), below().describe());
      check_names(part);
      for (std::size_t i = 0; i < part.size(); ++i) {
        if (static_cast<std::size_t>(part.label(i)) < class_count()) continue;
        fail(Fault::mismatch, "{}: record '{}' has label {}, but {} has {} classes", part.describe(),
             part.id(i), part.label(i), below().describe(), class_count());
      }
    }
    if ((target_width() > 0 || !has_labels()) && part.target_width() != target_width())
      differ("targets per record", target_width(), part.target_width());
  }

  // Folders and .cls files are numbered by what names there are, in each part by itself. Numbers as names say
  // nothing against others.
  void check_names(const Dataset& part) const {
    const std::vector<std::string> here = below().class_names(), there = part.class_names();
    for (std::size_t c = 0; c < std::min(here.size(), there.size()); ++c) {
      const std::string number = std::to_string(c);
      if (here[c] == there[c] || here[c] == number || there[c] == number) continue;
      fail(Fault::mismatch,
           "{} and {} cannot be joined: class {} is '{}' and '{}'; give each part records of all classes, or "
           "numbers of classes as labels",
           below().describe(), part.describe(), c, here[c], there[c]);
    }
  }

  // Several inputs: the same names, shapes and types in the same order.
  void check_inputs(const Dataset& part) const {
    const auto text = [](const Dataset& data) {
      std::string list = data.facts().input_name;
      for (const InputFacts& other : data.facts().others)
        list += fmt::format(" {} {} {}", other.name, to_string(other.record_shape), to_string(other.dtype));
      return list.empty() ? std::string("one without a name") : list;
    };
    if (text(part) == text(*this)) return;
    const DatasetFacts& more = facts().others.empty() ? part.facts() : facts();
    std::string remedy;
    if (!more.others.empty()) {
      remedy = fmt::format("; give the {} the same inputs: a table with words=NETWORK, arrays with inputs={}",
                           facts().others.empty() ? "first" : "second", more.input_name);
      for (const InputFacts& other : more.others) remedy += "+" + other.name;
    }
    fail(Fault::mismatch, "{} and {} cannot be joined: their inputs are {} and {}{}", below().describe(),
         part.describe(), text(*this), text(part), remedy);
  }

  // Which part an index falls into, and its place there.
  std::pair<std::size_t, std::size_t> find(std::size_t index) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), index);
    const std::size_t part = end - ends_.begin();
    return {part, part == 0 ? index : index - ends_[part - 1]};
  }

  std::vector<DatasetPtr> parts_;
  std::vector<std::size_t> ends_;  // one past the last index of each part
};

class Selected final : public View {
 public:
  Selected(DatasetPtr whole, std::vector<std::size_t> positions)
      : View(std::move(whole)), positions_(std::move(positions)) {
    if (positions_.empty()) fail(Fault::usage, "no record of {} is selected", below().describe());
    for (const std::size_t p : positions_) {
      if (p >= below().size()) fail(Fault::usage, "{} has no record at position {}", below().describe(), p);
    }
    facts_.size = positions_.size();
    facts_.description = fmt::format("{} of {}", positions_.size(), below().describe());
  }
  std::string id(std::size_t index) const override { return below().id(positions_.at(index)); }
  std::int64_t label(std::size_t index) const override { return below().label(positions_.at(index)); }
  std::string characteristic(std::size_t which, std::size_t index) const override {
    return below().characteristic(which, positions_.at(index));
  }
  Batch read(std::span<const std::size_t> indices) const override {
    std::vector<std::size_t> places;
    for (const std::size_t i : indices) places.push_back(positions_.at(i));
    Batch batch = below().read(places);
    batch.indices.assign(indices.begin(), indices.end());
    return batch;
  }
  std::string hash() const override {
    Hasher hasher;
    hasher.text("selected").text(below().hash());
    for (const std::size_t p : positions_) hasher.number(static_cast<std::int64_t>(p));
    return hasher.hex();
  }

 private:
  std::vector<std::size_t> positions_;
};

class Relabelled final : public View {
 public:
  Relabelled(DatasetPtr whole, std::vector<std::int64_t> labels)
      : View(std::move(whole)), labels_(std::move(labels)) {
    if (labels_.size() != below().size())
      fail(Fault::usage, "{} labels for {} records of {}", labels_.size(), below().size(),
           below().describe());
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (labels_[i] < 0 || labels_[i] > 1'000'000)
        fail(Fault::usage, "record '{}': {} is not a class number", id(i), labels_[i]);
      for (std::int64_t c = class_count(); c <= labels_[i]; ++c)
        facts_.class_names.push_back(std::to_string(c));
    }
    facts_.has_labels = true;
    facts_.target_width = 0;
    facts_.description += " with other labels";
  }
  std::int64_t label(std::size_t index) const override { return labels_.at(index); }
  Batch read(std::span<const std::size_t> indices) const override {
    Batch batch = below().read(indices);
    batch.labels.clear();
    for (const std::size_t i : indices) batch.labels.push_back(labels_.at(i));
    batch.targets = Array();
    return batch;
  }
  std::string hash() const override {
    Hasher hasher;
    hasher.text("relabelled").text(below().hash());
    for (const std::int64_t label : labels_) hasher.number(label);
    return hasher.hex();
  }

 private:
  std::vector<std::int64_t> labels_;
};

class Numbered final : public View {
 public:
  explicit Numbered(DatasetPtr whole) : View(std::move(whole)) {
    facts_.has_labels = false;
    facts_.target_width = 1;
  }
  Batch read(std::span<const std::size_t> indices) const override {
    Batch batch = below().read(indices);
    const std::vector<float> numbers(batch.labels.begin(), batch.labels.end());
    batch.targets = Array::of<float>({static_cast<std::int64_t>(numbers.size()), 1}, numbers);
    batch.labels.clear();
    return batch;
  }
  std::string hash() const override { return below().hash(); }
};

class Characterised final : public View {
 public:
  Characterised(DatasetPtr whole, std::vector<Characteristic> columns) : View(std::move(whole)) {
    for (Characteristic& column : columns)
      columns_.push_back(in_ranges(std::move(column), below().describe()));
    check_characteristics(columns_, size(), below().describe());
    facts_.characteristics.clear();
    for (const Characteristic& column : columns_) facts_.characteristics.push_back(column.name);
  }
  std::string characteristic(std::size_t which, std::size_t index) const override {
    return columns_.at(which).values.at(index);
  }
  Batch read(std::span<const std::size_t> indices) const override { return below().read(indices); }
  std::string hash() const override { return below().hash(); }

 private:
  std::vector<Characteristic> columns_;
};

class Altered final : public View {
 public:
  using Change = std::function<void(std::size_t position, std::span<float> values)>;
  Altered(DatasetPtr whole, std::vector<bool> marked, Change change, std::string mark)
      : View(std::move(whole)),
        marked_(std::move(marked)),
        change_(std::move(change)),
        mark_(std::move(mark)) {
    if (marked_.size() != below().size())
      fail(Fault::usage, "{} marks for {} records of {}", marked_.size(), below().size(), below().describe());
    if (dtype() != DType::float32)
      fail(Fault::usage, "the inputs of {} are {}, which cannot be altered", below().describe(),
           to_string(dtype()));
    facts_.description += " with other inputs";
  }
  Batch read(std::span<const std::size_t> indices) const override {
    Batch batch = below().read(indices);
    const auto before = batch.inputs.as<float>();
    std::vector<float> values(before.begin(), before.end());
    const std::size_t size = values.size() / std::max<std::size_t>(indices.size(), 1);
    for (std::size_t row = 0; row < indices.size(); ++row)
      if (marked_.at(indices[row])) change_(indices[row], std::span(values).subspan(row * size, size));
    batch.inputs = Array::of<float>(batch.inputs.shape(), values);
    return batch;
  }
  std::string hash() const override {
    Hasher hasher;
    hasher.text("altered").text(below().hash()).text(mark_);
    for (std::size_t i = 0; i < marked_.size(); ++i)
      if (marked_[i]) hasher.number(static_cast<std::int64_t>(i));
    return hasher.hex();
  }

 private:
  std::vector<bool> marked_;
  Change change_;
  std::string mark_;
};

// Rows of an array.
Array rows_of(const Array& whole, std::span<const std::size_t> rows) {
  if (whole.count() == 0) return {};
  Shape shape = whole.shape();
  const std::size_t step = whole.byte_size() / static_cast<std::size_t>(shape[0]);
  std::vector<std::byte> bytes(rows.size() * step);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(whole.data() + rows[i] * step, step, bytes.data() + i * step);
  shape[0] = rows.size();
  return Array(whole.dtype(), std::move(shape), std::move(bytes));
}

class Held final : public View {
 public:
  explicit Held(DatasetPtr whole) : View(std::move(whole)) {}
  Batch read(std::span<const std::size_t> indices) const override {
    std::call_once(once_, [this] {
      std::vector<std::size_t> all(size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      records_ = read_as_promised(below(), all);
    });
    for (const std::size_t i : indices)
      if (i >= size()) fail(Fault::usage, "{} has no record at position {}", describe(), i);
    Batch batch;
    batch.indices.assign(indices.begin(), indices.end());
    batch.input_name = records_.input_name;
    batch.inputs = rows_of(records_.inputs, indices);
    batch.targets = rows_of(records_.targets, indices);
    for (const NamedArray& other : records_.others)
      batch.others.push_back({other.name, rows_of(other.values, indices)});
    for (const std::size_t i : indices)
      if (!records_.labels.empty()) batch.labels.push_back(records_.labels[i]);
    return batch;
  }
  std::string hash() const override { return below().hash(); }

 private:
  mutable std::once_flag once_;
  mutable Batch records_;
};

}  // namespace

DatasetPtr joined(std::vector<DatasetPtr> parts) {
  if (parts.empty()) fail(Fault::usage, "nothing to join: no data sets");
  for (const DatasetPtr& part : parts) given_data(part);
  return parts.size() == 1 ? parts.front() : std::make_shared<Joined>(std::move(parts));
}

DatasetPtr selected(DatasetPtr whole, std::vector<std::size_t> positions) {
  return std::make_shared<Selected>(std::move(whole), std::move(positions));
}

DatasetPtr relabelled(DatasetPtr whole, std::vector<std::int64_t> labels) {
  return std::make_shared<Relabelled>(std::move(whole), std::move(labels));
}

DatasetPtr characterised(DatasetPtr whole, std::vector<Characteristic> characteristics) {
  return std::make_shared<Characterised>(std::move(whole), std::move(characteristics));
}

DatasetPtr numbered(DatasetPtr whole) { return std::make_shared<Numbered>(std::move(whole)); }

DatasetPtr held_in_memory(DatasetPtr whole, std::uint64_t most) {
  std::int64_t elements =
      element_count(given_data(whole)->record_shape()) + static_cast<std::int64_t>(whole->target_width());
  for (const InputFacts& other : whole->facts().others) elements += 2 * element_count(other.record_shape);
  const auto bytes = static_cast<double>(elements) * size_of(whole->dtype()) * whole->size();
  return bytes <= most ? std::make_shared<Held>(std::move(whole)) : whole;
}

DatasetPtr altered(DatasetPtr whole, std::vector<bool> marked,
                   std::function<void(std::size_t position, std::span<float> values)> change,
                   std::string mark) {
  return std::make_shared<Altered>(std::move(whole), std::move(marked), std::move(change), std::move(mark));
}

std::vector<std::int64_t> classes_named(const std::string& names, const Dataset& data) {
  const std::vector<std::string> known = data.class_names();
  std::vector<std::int64_t> classes;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find('+', begin), names.size());
    const auto it = std::ranges::find(known, names.substr(begin, end - begin));
    if (it == known.end())
      fail(Fault::usage, "no class of {} is named '{}'", data.describe(), names.substr(begin, end - begin));
    classes.push_back(it - known.begin());
    begin = end + 1;
  }
  return classes;
}

DatasetPtr labelled_as(const DatasetPtr& whole, const std::string& names) {
  if (!whole->has_labels()) fail(Fault::usage, "{} has no labels to choose records by", whole->describe());
  const std::vector<std::int64_t> wanted = classes_named(names, *whole);
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < whole->size(); ++i) {
    if (std::ranges::find(wanted, whole->label(i)) != wanted.end()) positions.push_back(i);
  }
  if (positions.empty()) fail(Fault::data, "{}: no record has the label {}", whole->describe(), names);
  return selected(whole, positions);
}

}  // namespace assay::inline data
