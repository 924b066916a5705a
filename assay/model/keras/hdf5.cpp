#include "assay/model/keras/hdf5.h"

#include <hdf5.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include <assay/error.h>

namespace assay::inline model {
namespace {

constexpr std::uint64_t dataset_limit = std::uint64_t{4} << 30;  // bytes of one weight, as float32
constexpr std::uint64_t file_limit = std::uint64_t{8} << 30;     // bytes of all weights together
constexpr std::uint64_t text_limit = std::uint64_t{64} << 20;    // bytes of one attribute
constexpr std::uint64_t deflate_ratio = 1100;  // deflate cannot shrink data further than 1032 times
constexpr hsize_t children_limit = 100'000;

// Closes an HDF5 identifier with the function that belongs to its kind.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  explicit operator bool() const { return id_ >= 0; }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

// Messages on stderr off, plug-in filters off.
void quieten() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
}

bool is_half(hid_t type) {
  std::size_t sign = 0, exponent = 0, exponent_size = 0, mantissa = 0, mantissa_size = 0;
  return H5Tget_size(type) == 2 &&
         H5Tget_fields(type, &sign, &exponent, &exponent_size, &mantissa, &mantissa_size) >= 0 &&
         sign == 15 && exponent == 10 && exponent_size == 5 && mantissa == 0 && mantissa_size == 10;
}

// The name of an element type Keras writes, empty for all others.
std::string type_name(hid_t type) {
  const auto is_any = [&](std::initializer_list<hid_t> types) {
    return std::any_of(types.begin(), types.end(), [&](hid_t t) { return H5Tequal(type, t) > 0; });
  };
  if (H5Tget_class(type) == H5T_FLOAT) {
    if (is_any({H5T_IEEE_F32LE, H5T_IEEE_F32BE})) return "float32";
    if (is_any({H5T_IEEE_F64LE, H5T_IEEE_F64BE})) return "float64";
    if (is_half(type)) return "float16";
  }
  if (is_any({H5T_STD_I8LE, H5T_STD_I8BE})) return "int8";
  if (is_any({H5T_STD_I64LE, H5T_STD_I64BE, H5T_STD_I32LE, H5T_STD_U32LE, H5T_STD_U64LE})) return "int64";
  return "";
}

}  // namespace

struct Hdf5File::State {
  std::unique_lock<std::mutex> lock{library_mutex()};
  std::string name;
  std::uint64_t file_size = 0;
  std::uint64_t bytes_read = 0;
  struct Extent {
    std::uint64_t end;
    std::string path;
  };
  std::map<std::uint64_t, Extent> extents;  // of the contiguous datasets read so far, by where they begin
  std::optional<Handle> file;

  void open(const char* path, hid_t access) {
    file.emplace(H5Fopen(path, H5F_ACC_RDONLY, access), H5Fclose);
    if (!*file) fail(Fault::model, "{}: not a complete HDF5 file (truncated or damaged?)", name);
  }

  // True when every component of the path is a hard link inside this file.
  bool exists(const std::string& path) const {
    std::size_t end = 0;
    while (end != std::string::npos) {
      end = path.find('/', end + 1);
      const std::string prefix = path.substr(0, end);
      if (prefix.empty() || prefix == "/" || prefix.back() == '/') continue;
      H5L_info_t info;
      if (H5Lexists(*file, prefix.c_str(), H5P_DEFAULT) <= 0) return false;
      if (H5Lget_info(*file, prefix.c_str(), &info, H5P_DEFAULT) < 0) return false;
      if (info.type != H5L_TYPE_HARD) {
        fail(Fault::model, "{}: '{}' is a link to another place; only data inside the file are read", name,
             prefix);
      }
    }
    return true;
  }

  bool is(const std::string& path, H5I_type_t kind) const {
    if (path.empty() || path == "/") return kind == H5I_GROUP;
    if (!exists(path)) return false;
    const Handle object(H5Oopen(*file, path.c_str(), H5P_DEFAULT), H5Oclose);
    return object && H5Iget_type(object) == kind;
  }

  Handle open_group(const std::string& path) const {
    const bool root = path.empty() || path == "/";
    if (!is(path, H5I_GROUP)) fail(Fault::model, "{}: no group '{}'", name, path);
    Handle group(H5Gopen2(*file, root ? "/" : path.c_str(), H5P_DEFAULT), H5Gclose);
    if (!group) fail(Fault::model, "{}: group '{}' cannot be opened", name, path);
    return group;
  }

  Handle open_dataset(const std::string& path) const {
    if (!is(path, H5I_DATASET)) fail(Fault::model, "{}: no dataset '{}'", name, path);
    Handle dataset(H5Dopen2(*file, path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset) fail(Fault::model, "{}: dataset '{}' cannot be opened", name, path);
    return dataset;
  }

  std::optional<std::vector<std::string>> strings(const std::string& group,
                                                  const std::string& attribute) const;
  void check_storage(hid_t dataset, const std::string& path, std::uint64_t bytes);
  void check_overlap(hid_t dataset, const std::string& path, std::uint64_t bytes);
};

std::optional<std::vector<std::string>> Hdf5File::State::strings(const std::string& group,
                                                                 const std::string& attribute) const {
  const Handle object = open_group(group);
  if (H5Aexists(object, attribute.c_str()) <= 0) return std::nullopt;
  const auto damaged = [&](const char* what) {
    fail(Fault::model, "{}: attribute '{}' of group '/{}' {}", name, attribute, group, what);
  };
  const Handle handle(H5Aopen(object, attribute.c_str(), H5P_DEFAULT), H5Aclose);
  if (!handle) damaged("cannot be opened");
  const Handle type(H5Aget_type(handle), H5Tclose);
  const Handle space(H5Aget_space(handle), H5Sclose);
  if (!type || !space) damaged("cannot be read");
  // An empty list written by numpy has a floating-point type; it holds nothing all the same.
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count < 0 || H5Sget_simple_extent_ndims(space) > 1) damaged("is neither one string nor a list");
  if (count == 0) return std::vector<std::string>{};
  if (H5Tget_class(type) != H5T_STRING) damaged("is not a string");

  std::vector<std::string> result;
  const std::size_t n = count;
  if (H5Tis_variable_str(type) > 0) {
    if (n > text_limit / sizeof(char*)) damaged("is too long");
    std::vector<char*> pointers(n, nullptr);
    const Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(memory, H5T_VARIABLE);
    H5Tset_cset(memory, H5Tget_cset(type));
    if (H5Aread(handle, memory, pointers.data()) < 0) damaged("cannot be read");
    for (const char* text : pointers) result.emplace_back(text ? text : "");
    H5Dvlen_reclaim(memory, space, H5P_DEFAULT, pointers.data());
    return result;
  }
  const std::size_t width = H5Tget_size(type);
  if (width == 0 || n > text_limit / width || n * width > file_size) damaged("is too long");
  std::string bytes(n * width, '\0');
  if (H5Aread(handle, type, bytes.data()) < 0) damaged("cannot be read");
  for (std::size_t i = 0; i < n; ++i) {
    std::string text = bytes.substr(i * width, width);
    text.resize(std::min(text.find('\0'), text.size()));
    result.push_back(std::move(text));
  }
  return result;
}

void Hdf5File::State::check_storage(hid_t dataset, const std::string& path, std::uint64_t bytes) {
  const Handle list(H5Dget_create_plist(dataset), H5Pclose);
  if (!list) fail(Fault::model, "{}: dataset '{}' is damaged", name, path);
  const H5D_layout_t layout = H5Pget_layout(list);
  if (layout == H5D_VIRTUAL || H5Pget_external_count(list) > 0) {
    fail(Fault::model, "{}: dataset '{}' keeps its data in another file, which is not read", name, path);
  }
  const int filters = H5Pget_nfilters(list);
  std::uint64_t ratio = 1;
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(list, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config);
    if (filter == H5Z_FILTER_DEFLATE) ratio = deflate_ratio;
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32) {
      fail(Fault::unsupported, "{}: dataset '{}' uses filter {}; save it with gzip compression or none", name,
           path, static_cast<int>(filter));
    }
  }
  const std::uint64_t stored = H5Dget_storage_size(dataset);
  if (stored > file_size || bytes / ratio > stored) {
    fail(Fault::model, "{}: dataset '{}' claims {} bytes but the file holds {} for it", name, path, bytes,
         stored);
  }
  if (layout == H5D_CONTIGUOUS) check_overlap(dataset, path, bytes);
}

void Hdf5File::State::check_overlap(hid_t dataset, const std::string& path, std::uint64_t bytes) {
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF || bytes == 0) return;
  if (offset > file_size || bytes > file_size - offset) {
    fail(Fault::model, "{}: dataset '{}' reaches beyond the end of the file", name, path);
  }
  const std::uint64_t begin = offset;
  const auto refuse = [&](const Extent& other) {
    fail(Fault::model, "{}: datasets '{}' and '{}' overlap in the file", name, path, other.path);
  };
  const auto after = extents.lower_bound(begin);
  if (after != extents.end() && after->first == begin && after->second.path == path) return;
  if (after != extents.end() && after->first < begin + bytes) refuse(after->second);
  if (after != extents.begin() && std::prev(after)->second.end > begin) refuse(std::prev(after)->second);
  extents.emplace(begin, Extent{begin + bytes, path});
}

Hdf5File::Hdf5File(const std::filesystem::path& path) : state_(std::make_unique<State>()) {
  quieten();
  state_->name = path.string();
  std::error_code error;
  state_->file_size = std::filesystem::file_size(path, error);
  if (error) fail(Fault::io, "{}: {}", path.string(), error.message());
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  state_->open(path.c_str(), access);
}

Hdf5File::Hdf5File(std::string bytes, std::string name) : state_(std::make_unique<State>()) {
  quieten();
  state_->name = std::move(name);
  state_->file_size = bytes.size();
  if (bytes.empty()) fail(Fault::model, "{}: empty, where an HDF5 file should be", state_->name);
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (H5Pset_fapl_core(access, std::size_t{1} << 20, false) < 0 ||
      H5Pset_file_image(access, bytes.data(), bytes.size()) < 0) {
    fail(Fault::resources, "{}: no memory for {} bytes of weights", state_->name, bytes.size());
  }
  state_->open("memory", access);
}

Hdf5File::~Hdf5File() = default;
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;

const std::string& Hdf5File::name() const { return state_->name; }
bool Hdf5File::is_group(const std::string& path) const { return state_->is(path, H5I_GROUP); }

std::vector<std::string> Hdf5File::children(const std::string& path) const {
  const Handle group = state_->open_group(path);
  H5G_info_t info;
  if (H5Gget_info(group, &info) < 0) fail(Fault::model, "{}: group '{}' is damaged", name(), path);
  if (info.nlinks > children_limit) {
    fail(Fault::resources, "{}: group '{}' has {} members, more than any network", name(), path, info.nlinks);
  }
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    char buffer[1024];
    const ssize_t length =
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, buffer, sizeof buffer, H5P_DEFAULT);
    if (length < 0) fail(Fault::model, "{}: group '{}' is damaged", name(), path);
    if (static_cast<std::size_t>(length) < sizeof buffer) names.emplace_back(buffer);
  }
  return names;
}

std::optional<std::string> Hdf5File::text(const std::string& group, const std::string& attribute) const {
  auto list = state_->strings(group, attribute);
  if (!list) return std::nullopt;
  if (list->size() != 1) {
    fail(Fault::model, "{}: attribute '{}' holds {} strings instead of one", name(), attribute, list->size());
  }
  return std::move(list->front());
}

std::optional<std::vector<std::string>> Hdf5File::texts(const std::string& group,
                                                        const std::string& attribute) const {
  if (auto whole = state_->strings(group, attribute)) return whole;
  auto result = state_->strings(group, attribute + "0");
  for (int part = 1; result; ++part) {
    const auto more = state_->strings(group, attribute + std::to_string(part));
    if (!more) break;
    result->insert(result->end(), more->begin(), more->end());
  }
  return result;
}

Hdf5Dataset Hdf5File::describe(const std::string& path) const {
  const Handle dataset = state_->open_dataset(path);
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  if (!type || !space) fail(Fault::model, "{}: dataset '{}' is damaged", name(), path);
  Hdf5Dataset result{.shape = {}, .dtype = type_name(type)};
  if (result.dtype.empty()) {
    fail(Fault::model,
         "{}: dataset '{}' has an element type that weights cannot have (float16, float32, float64 and int8 "
         "can be read)",
         name(), path);
  }
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > 8 || H5Sget_simple_extent_type(space) == H5S_NULL) {
    fail(Fault::model, "{}: dataset '{}' has a rank that no weight has", name(), path);
  }
  hsize_t dims[H5S_MAX_RANK] = {};
  if (rank > 0 && H5Sget_simple_extent_dims(space, dims, nullptr) != rank) {
    fail(Fault::model, "{}: dataset '{}' is damaged", name(), path);
  }
  for (int i = 0; i < rank; ++i) {
    if (dims[i] > dataset_limit) fail(Fault::resources, "{}: dataset '{}' is too large", name(), path);
    result.shape.push_back(static_cast<std::int64_t>(dims[i]));
  }
  return result;
}

Array Hdf5File::read(const std::string& path) {
  const Hdf5Dataset description = describe(path);
  const Handle dataset = state_->open_dataset(path);
  const std::uint64_t count = element_count(description.shape);
  if (count > dataset_limit / sizeof(float)) {
    fail(Fault::resources, "{}: dataset '{}' of shape {} is too large", name(), path,
         array::to_string(description.shape));
  }
  const Handle type(H5Dget_type(dataset), H5Tclose);
  state_->check_storage(dataset, path, count * H5Tget_size(type));
  state_->bytes_read += count * sizeof(float);
  if (state_->bytes_read > file_limit) fail(Fault::resources, "{}: more than 8 GiB of weights", name());
  std::vector<std::byte> bytes(count * sizeof(float));
  if (count > 0 && H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
    fail(Fault::model, "{}: dataset '{}' cannot be read (damaged?)", name(), path);
  }
  return Array(DType::float32, description.shape, std::move(bytes));
}

}  // namespace assay::inline model
