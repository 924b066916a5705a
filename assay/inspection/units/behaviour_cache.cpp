#include "assay/inspection/units/behaviour_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <assay/error.h>
#include "assay/support/files/frames.h"
#include "assay/support/files/hash.h"

namespace assay::inspection {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view series_start = "assay behaviours 1\n";
constexpr std::size_t series_chunk = std::size_t{1} << 20;  // bytes of a file read at a time
constexpr std::size_t row_overhead = 128;                   // of a row in memory, in addition to its bytes
constexpr std::uint8_t byte_nan = 255;
enum class RowMode : char { bytes, floats };

// The values of one record, hypothesis by hypothesis: a byte each where all are small integers or NaN.
std::string packed_row(std::span<const float> values, std::size_t hypotheses) {
  std::string row;
  const std::size_t count = hypotheses == 0 ? 0 : values.size() / hypotheses;
  for (std::size_t h = 0; h < hypotheses; ++h) {
    const auto own = values.subspan(h * count, count);
    const bool small = std::ranges::all_of(own, [](float value) {
      return std::isnan(value) ||
             (value >= 0 && value < byte_nan && value == std::floor(value) && !std::signbit(value));
    });
    row.push_back(static_cast<char>(small ? RowMode::bytes : RowMode::floats));
    if (!small) {
      row.append(reinterpret_cast<const char*>(own.data()), own.size_bytes());
      continue;
    }
    for (const float value : own)
      row.push_back(static_cast<char>(std::isnan(value) ? byte_nan : static_cast<std::uint8_t>(value)));
  }
  return row;
}

// Whether `row` was such values, `count` for each hypothesis; they are then after `values`.
bool unpack_row(std::string_view row, std::size_t hypotheses, std::size_t count, float* values) {
  for (std::size_t h = 0; h < hypotheses; ++h, values += count) {
    if (row.empty()) return false;
    const auto mode = static_cast<RowMode>(row.front());
    row.remove_prefix(1);
    const std::size_t bytes = mode == RowMode::bytes ? count : count * sizeof(float);
    if (row.size() < bytes || (mode != RowMode::bytes && mode != RowMode::floats)) return false;
    if (mode == RowMode::floats) {
      std::memcpy(values, row.data(), bytes);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        const auto value = static_cast<std::uint8_t>(row[i]);
        values[i] = value == byte_nan ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value);
      }
    }
    row.remove_prefix(bytes);
  }
  return row.empty();
}

std::size_t values_a_hypothesis(const Shape& positions) { return element_count(positions); }

// What is wrong with a value of a hypothesis; empty where nothing is.
std::string_view fault_of(const Hypothesis& hypothesis, float value) {
  if (std::isnan(value)) return {};
  switch (hypothesis.kind) {
    case BehaviourKind::binary:
      return value == 0 || value == 1 ? "" : "of a binary hypothesis is 0 or 1";
    case BehaviourKind::categorical:
      if (value < 0 || value != std::floor(value) || std::isinf(value))
        return "of a categorical hypothesis is a code 0, 1, ...";
      return hypothesis.classes.empty() || value < static_cast<float>(hypothesis.classes.size())
                 ? ""
                 : "is a code without a class";
    case BehaviourKind::numeric:
      return std::isinf(value) ? "of a numeric hypothesis is finite" : "";
  }
  return {};
}

// The records at these positions of a block, as a separate block.
Behaviours annotate_some(const Annotator& annotator, const RecordBlock& records,
                         const std::vector<std::size_t>& wanted) {
  if (wanted.size() == records.size()) {
    Behaviours all = annotator.annotate(records);
    check_behaviours(annotator, records, all);
    return all;
  }
  std::vector<std::size_t> indices;
  std::vector<RecordText> texts;
  for (const std::size_t r : wanted) {
    indices.push_back(records.batch.indices[r]);
    if (!records.texts.empty()) texts.push_back(records.texts[r]);
  }
  const Batch batch = records.dataset.read(indices);
  const RecordBlock part{records.dataset, batch, texts};
  Behaviours some = annotator.annotate(part);
  check_behaviours(annotator, part, some);
  return some;
}

}  // namespace

std::string behaviour_key(const Annotator& annotator, const std::string& spec, const std::string& records) {
  const std::string version = annotator.version();
  if (version.empty()) return {};
  std::string key;
  for (const std::string& part : {spec, version, records}) put_text(key, part);
  return key;
}

void check_behaviours(const Annotator& annotator, const RecordBlock& records, const Behaviours& behaviours) {
  const std::vector<Hypothesis>& hypotheses = annotator.hypotheses();
  const std::size_t count = values_a_hypothesis(behaviours.positions);
  const std::size_t wanted = records.size() * hypotheses.size() * count;
  if (records.size() == 0 || hypotheses.empty()) return;
  if (behaviours.values.size() != wanted) {
    fail(Fault::data,
         "hypothesis '{}', from record '{}' on: {} values for {} records, {} hypotheses and positions {}, "
         "which need {}",
         hypotheses[0].name, records.dataset.id(records.batch.indices[0]), behaviours.values.size(),
         records.size(), hypotheses.size(), to_string(behaviours.positions), wanted);
  }
  for (std::size_t i = 0; i < wanted; ++i) {
    const Hypothesis& hypothesis = hypotheses[i / count % hypotheses.size()];
    if (const std::string_view fault = fault_of(hypothesis, behaviours.values[i]); !fault.empty()) {
      fail(Fault::data, "hypothesis '{}', record '{}', position {}: a value {}, not {}", hypothesis.name,
           records.dataset.id(records.batch.indices[i / count / hypotheses.size()]), i % count, fault,
           behaviours.values[i]);
    }
  }
}

// The rows of one key: where they are in memory, and where in the file.
class BehaviourCache::Series {
 public:
  Series(const fs::path& folder, const std::string& key, std::size_t hypotheses) : hypotheses_(hypotheses) {
    put_text(head_, key);
    put_text(head_, std::to_string(hypotheses));
    if (folder.empty()) return;
    path_ = folder / (hash_hex(key) + ".behaviours");
    file_ = ::open(path_.c_str(), O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
    if (file_ < 0)
      fail(Fault::io, "{}: cannot be opened for writing: {}", path_.string(), std::strerror(errno));
    try {
      require_plain();
      refresh();
    } catch (...) {
      ::close(file_);
      throw;
    }
  }
  ~Series() {
    if (file_ >= 0) ::close(file_);
  }
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;

  std::size_t hypotheses() const { return hypotheses_; }
  const fs::path& path() const { return path_; }
  const std::optional<Shape>& positions() const { return positions_; }
  void set_positions(const Shape& positions) {
    if (!positions_) positions_ = positions;
  }

  // Takes in what other processes have written: whole frames after the known ones.
  void refresh() {
    struct stat about = {};
    if (file_ < 0 || ::fstat(file_, &about) != 0) return;
    const std::size_t end = about.st_size;
    if (end < size_) {  // another process found damage and cut it off
      size_ = 0;
      places_.clear();
    }
    for (std::size_t wanted = series_chunk; size_ < end;) {
      const std::size_t left = end - size_;
      const std::string bytes = read_at(size_, std::min(wanted, left));
      const bool taken = take_frames(bytes) > 0;
      if (!taken && wanted >= left) return;
      wanted = taken ? series_chunk : wanted * 2;  // a long frame
    }
  }

  bool in_file(std::size_t record) const { return places_.contains(record); }
  // The row of a record as the file has it; nothing when it is not there, or no longer whole.
  std::optional<std::string> read(std::size_t record) {
    const auto place = places_.find(record);
    if (place == places_.end()) return std::nullopt;
    const std::string bytes = read_at(place->second.begin, place->second.size);
    std::string_view rest = bytes;
    const auto text = take_framed(rest);
    if (!text || record_of(*text) != record) {
      places_.erase(place);
      return std::nullopt;
    }
    return std::string(text->substr(sizeof(std::uint64_t)));
  }

  // Writes rows that the file does not have. Returns why it could not, if so.
  std::string append(const std::vector<std::pair<std::size_t, const std::string*>>& rows) {
    if (file_ < 0) return {};
    ::flock(file_, LOCK_EX);
    refresh();
    if (size_ == 0 && !series_start.starts_with(read_at(0, series_start.size()))) {
      ::flock(file_, LOCK_UN);
      return "it holds something else, or is damaged; move it away";
    }
    std::string bytes;
    if (size_ == 0) {
      std::string head = head_;
      for (const std::int64_t size : *positions_) put_text(head, std::to_string(size));
      bytes = std::string(series_start) + framed(head);
    }
    for (const auto& [record, row] : rows) {
      if (in_file(record)) continue;
      const std::uint64_t number = record;
      bytes += framed(std::string(reinterpret_cast<const char*>(&number), sizeof(number)) + *row);
    }
    std::string trouble;
    if (::ftruncate(file_, static_cast<off_t>(size_)) != 0 || !write_at(file_, size_, bytes)) {
      trouble = std::strerror(errno);
      if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) trouble += ", and what was written stays";
    } else {
      take_frames(bytes);
    }
    ::flock(file_, LOCK_UN);
    return trouble;
  }

  std::unordered_map<std::size_t, Place> remembered;

 private:
  struct Range {
    std::size_t begin, size;
  };

  // No flag names the file, so that somebody may have put a link there, or a second name of another file.
  void require_plain() const {
    struct stat about = {};
    if (::fstat(file_, &about) != 0 || !S_ISREG(about.st_mode) || about.st_nlink > 1)
      fail(Fault::data, "{}: is not a plain file; move it away, or use another folder", path_.string());
  }

  std::string read_at(std::size_t place, std::size_t size) const {
    std::string bytes(size, '\0');
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got = ::pread(file_, bytes.data() + done, size - done, static_cast<off_t>(place + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += got;
    }
    bytes.resize(done);
    return bytes;
  }

  static std::size_t record_of(std::string_view text) {
    std::uint64_t record = std::numeric_limits<std::uint64_t>::max();
    if (text.size() >= sizeof(record)) std::memcpy(&record, text.data(), sizeof(record));
    return record;
  }

  // Notes the whole frames that follow size_. Returns how many bytes they take.
  std::size_t take_frames(std::string_view bytes) {
    const std::size_t all = bytes.size();
    if (size_ == 0 && !take_head(bytes)) return 0;
    while (true) {
      const std::size_t before = bytes.size();
      const auto text = take_framed(bytes);
      if (!text) break;
      places_[record_of(*text)] = {size_ + all - before, before - bytes.size()};
    }
    size_ += all - bytes.size();
    return all - bytes.size();
  }

  bool take_head(std::string_view& bytes) {
    if (!bytes.starts_with(series_start)) return false;
    std::string_view rest = bytes.substr(series_start.size());
    const auto text = take_framed(rest);
    if (!text || !text->starts_with(head_)) return false;
    Shape shape;
    std::string_view sizes = text->substr(head_.size());
    while (const auto size = take_text(sizes)) shape.push_back(std::atoll(std::string(*size).c_str()));
    if (positions_ && *positions_ != shape) return false;
    positions_ = shape;
    bytes = rest;
    return true;
  }

  std::size_t hypotheses_;
  std::string head_;
  fs::path path_;
  int file_ = -1;
  std::size_t size_ = 0;  // of the file, up to the end of the last whole frame
  std::optional<Shape> positions_;
  std::unordered_map<std::size_t, Range> places_;
};

BehaviourCache::BehaviourCache(fs::path folder, std::uint64_t memory_bytes)
    : folder_(std::move(folder)), limit_(memory_bytes) {
  if (folder_.empty()) return;
  std::error_code code;
  fs::create_directories(folder_, code);
  if (!fs::is_directory(folder_))
    fail(Fault::io, "{}: the folder for behaviours cannot be made: {}", folder_.string(), code.message());
}

BehaviourCache::~BehaviourCache() = default;

BehaviourCache::Series& BehaviourCache::series_of(const std::string& key, std::size_t hypotheses) {
  std::unique_ptr<Series>& series = series_[key];
  if (!series) series = std::make_unique<Series>(folder_, key, hypotheses);
  return *series;
}

const std::string* BehaviourCache::find(Series& series, std::size_t record) {
  if (const auto known = series.remembered.find(record); known != series.remembered.end()) {
    remembered_.splice(remembered_.begin(), remembered_, known->second);
    return &known->second->row;
  }
  std::optional<std::string> row = series.read(record);
  if (!row) return nullptr;
  remember(series, record, std::move(*row));
  return &remembered_.front().row;
}

// Keeps the row just remembered, even if too large, until the next one.
void BehaviourCache::remember(Series& series, std::size_t record, std::string row) {
  if (series.remembered.contains(record)) return;
  used_ += row.size() + row_overhead;
  remembered_.push_front({&series, record, std::move(row)});
  series.remembered[record] = remembered_.begin();
  while (used_ > limit_ && remembered_.size() > 1) {
    const Remembered& last = remembered_.back();
    used_ -= last.row.size() + row_overhead;
    last.series->remembered.erase(last.record);
    remembered_.pop_back();
  }
}

Behaviours BehaviourCache::get_or_compute(const Annotator& annotator, const std::string& key,
                                          const RecordBlock& records) {
  const std::size_t hypotheses = annotator.hypotheses().size();
  std::vector<std::size_t> missing;
  Behaviours result;
  const auto place_of = [&](std::size_t r, std::size_t width) { return result.values.data() + r * width; };
  std::unique_lock lock(mutex_);
  Series* series = key.empty() ? nullptr : &series_of(key, hypotheses);
  if (series && series->positions()) {
    result.positions = *series->positions();
    const std::size_t count = values_a_hypothesis(result.positions);
    result.values.resize(records.size() * hypotheses * count);
    series->refresh();
    for (std::size_t r = 0; r < records.size(); ++r) {
      const std::string* row = find(*series, records.batch.indices[r]);
      if (!row || !unpack_row(*row, hypotheses, count, place_of(r, hypotheses * count))) missing.push_back(r);
    }
  } else {
    for (std::size_t r = 0; r < records.size(); ++r) missing.push_back(r);
  }
  hits_ += records.size() - missing.size();
  misses_ += missing.size();
  if (missing.empty()) return result;

  lock.unlock();
  Behaviours computed = annotate_some(annotator, records, missing);
  lock.lock();
  if (!series) return computed;
  series->set_positions(computed.positions);
  if (computed.positions != *series->positions()) {
    fail(Fault::data, "hypothesis '{}', record '{}': positions {}, but {} for other records",
         annotator.hypotheses().at(0).name, records.dataset.id(records.batch.indices[missing[0]]),
         to_string(computed.positions), to_string(*series->positions()));
  }
  const std::size_t width = hypotheses * values_a_hypothesis(computed.positions);
  std::vector<std::string> rows;
  std::vector<std::pair<std::size_t, const std::string*>> written;
  rows.reserve(missing.size());
  for (std::size_t m = 0; m < missing.size(); ++m) {
    const std::span<const float> values(computed.values.data() + m * width, width);
    written.emplace_back(records.batch.indices[missing[m]],
                         &rows.emplace_back(packed_row(values, hypotheses)));
  }
  if (trouble_.empty()) {
    if (const std::string why = series->append(written); !why.empty())
      trouble_ = fmt::format("{}: behaviours of hypotheses are no longer cached there: {}",
                             series->path().string(), why);
  }
  for (std::size_t m = 0; m < missing.size(); ++m) {
    if (missing.size() < records.size())
      std::memcpy(place_of(missing[m], width), computed.values.data() + m * width, width * sizeof(float));
    remember(*series, records.batch.indices[missing[m]], std::move(rows[m]));
  }
  return missing.size() < records.size() ? result : computed;
}

std::uint64_t BehaviourCache::hits() const {
  const std::lock_guard lock(mutex_);
  return hits_;
}

std::uint64_t BehaviourCache::misses() const {
  const std::lock_guard lock(mutex_);
  return misses_;
}

std::uint64_t BehaviourCache::memory() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

std::vector<std::string> BehaviourCache::notices() const {
  const std::lock_guard lock(mutex_);
  return trouble_.empty() ? std::vector<std::string>{} : std::vector<std::string>{trouble_};
}

}  // namespace assay::inspection
