#include "assay/model/foreign.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <assay/error.h>
#include "assay/support/files/input_file.h"
#include "assay/support/files/zip_file.h"

namespace assay::inline model {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t head_size = std::size_t{1} << 16;

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string onnx_name(const fs::path& path) { return path.stem().string() + ".onnx"; }

// How PyTorch writes ONNX, of a network that `net` makes.
std::string export_by_torch(const std::string& net, const fs::path& path) {
  return "net = " + net + "; torch.onnx.export(net, torch.zeros(1, 3, 32, 32), '" + onnx_name(path) +
         "', input_names=['x'], dynamic_axes={'x': {0: 'n'}}, dynamo=False), with one record as the network "
         "takes it for the zeros";
}

[[noreturn]] void refuse_torch_weights(const fs::path& path) {
  fail(Fault::unsupported,
       "is a file of PyTorch: weights without their network, or code of Python's. Export the network where "
       "its class is known, and give that file: {}",
       export_by_torch(
           "Net(); net.load_state_dict(torch.load('" + path.filename().string() + "')); net.eval()", path));
}

[[noreturn]] void refuse_torch_script(const fs::path& path) {
  fail(Fault::unsupported,
       "is a TorchScript network (torch.jit.save), which is not read; export it with PyTorch, and give that "
       "file: {}",
       export_by_torch("torch.jit.load('" + path.filename().string() + "').eval()", path));
}

[[noreturn]] void refuse_torch_export(const fs::path& path) {
  fail(Fault::unsupported,
       "is a program of torch.export (.pt2), which is not read; export it with PyTorch, and give that file: "
       "program = torch.export.load('{}'); "
       "torch.onnx.export(program, (), '{}', dynamo=True)",
       path.filename().string(), onnx_name(path));
}

[[noreturn]] void refuse_compiled(const fs::path& path) {
  fail(Fault::unsupported,
       "is a package of torch.export that holds compiled code; give the network that it was made from, "
       "exported "
       "as ONNX (torch.onnx.export(net, example, '{}'))",
       onnx_name(path));
}

[[noreturn]] void refuse_arrays() {
  fail(Fault::unsupported,
       "holds arrays of NumPy, which are data and not a network; give it as data, and the network as .onnx, "
       ".keras or .h5 (weights that were saved as arrays need the program that has their network: load them "
       "there and export it)");
}

// What a pickle of a library's objects needs.
struct Pickled {
  std::string_view name, remedy;
};

[[noreturn]] void refuse_pickle(const fs::path& path, std::string_view head) {
  static constexpr std::array libraries{
      Pickled{"sklearn",
              "pip install skl2onnx; model = joblib.load('{0}'); "
              "open('{1}', 'wb').write(skl2onnx.to_onnx(model, X[:1], options={{'zipmap': False}})"
              ".SerializeToString())"},
      Pickled{"xgboost",
              "pip install onnxmltools; model = pickle.load(open('{0}', 'rb')); "
              "onnxmltools.utils.save_model(onnxmltools.convert_xgboost(model, initial_types=[('x', "
              "onnxmltools.convert.common.data_types.FloatTensorType([None, FEATURES]))]), '{1}')"},
      Pickled{"lightgbm",
              "pip install onnxmltools; model = pickle.load(open('{0}', 'rb')); "
              "onnxmltools.utils.save_model(onnxmltools.convert_lightgbm(model, initial_types=[('x', "
              "onnxmltools.convert.common.data_types.FloatTensorType([None, FEATURES]))]), '{1}')"}};
  const auto found =
      std::ranges::find_if(libraries, [&](const Pickled& one) { return holds(head, one.name); });
  constexpr std::string_view never =
      "is a pickle: objects of Python, which would run as code when loaded, so it is not read";
  if (found == libraries.end())
    fail(Fault::unsupported,
         "{}; load it where it was made, and export its network as ONNX (PyTorch: torch.onnx.export, "
         "scikit-learn: skl2onnx.to_onnx, Keras: model.save('net.keras'))",
         never);
  fail(Fault::unsupported, "{} ({}). If you trust it: {}", never, found->name,
       fmt::format(fmt::runtime(found->remedy), path.filename().string(), onnx_name(path)));
}

// Names in an archive, the first ones of many; none where it cannot be read.
std::vector<std::string> names_in(const fs::path& path) {
  constexpr std::size_t most = 10'000;
  const auto archive = ZipFile::open(path);
  std::vector<std::string> names;
  if (!archive) return names;
  const std::size_t count = std::min(archive->entries().size(), most);
  for (std::size_t i = 0; i < count; ++i) names.push_back(archive->entries()[i].name);
  return names;
}

void refuse_archive(const fs::path& path) {
  const std::vector<std::string> names = names_in(path);
  const auto any = [&](auto&& fits) { return std::ranges::any_of(names, fits); };
  const auto ends = [&](std::string_view end) {
    return any([&](std::string_view name) {
      if (!name.ends_with(end)) return false;
      name.remove_suffix(end.size());
      return name.empty() || name.ends_with('/');
    });
  };
  const auto has = [&](std::string_view part) {
    return any([&](const std::string& name) { return holds(name, part); });
  };
  if (ends("config.json") && (ends("model.weights.h5") || ends("model.weights.json"))) return;
  if (has("data/aotinductor/")) refuse_compiled(path);
  if (ends("serialized_exported_program.json") || ends("archive_format") || has("models/model.json"))
    refuse_torch_export(path);
  if (ends("constants.pkl") || has("/code/__torch__")) refuse_torch_script(path);
  if (ends("data.pkl")) refuse_torch_weights(path);
  if (!names.empty() &&
      std::ranges::all_of(names, [](const std::string& name) { return name.ends_with(".npy"); }))
    refuse_arrays();
  if (ends("MAR-INF/MANIFEST.json") || ends("MANIFEST.json"))
    fail(Fault::unsupported,
         "is an archive of TorchServe; unpack it, and export its network as ONNX with PyTorch");
  if (ends("saved_model.pb"))
    fail(Fault::unsupported,
         "is a TensorFlow SavedModel in a zip archive; unpack it, and export the folder: "
         "python -m tf2onnx.convert --saved-model FOLDER --output {}",
         onnx_name(path));
  if (std::ranges::count_if(names, [](const std::string& name) { return name.ends_with(".onnx"); }) > 0)
    fail(Fault::unsupported, "is a zip archive that holds an ONNX file; unpack it and give that file");
}

// Kinds that their first bytes tell, at a place among them.
struct Signature {
  std::size_t place;
  std::string_view bytes;
  const char* what;
};
constexpr std::array signatures{
    Signature{4, "TFL3",
              "is a TensorFlow Lite network, which is not read; convert it, and give that file: "
              "pip install tf2onnx; python -m tf2onnx.convert --tflite {0} --output {1}"},
    Signature{
        4, "ORTM",
        "is in the format of ONNX Runtime (.ort), which is not read; give the .onnx file that it was made "
        "from"},
    Signature{0, "GGUF",
              "holds a language model in the format of llama.cpp (GGUF), which is not read; give the network "
              "that it was made from, exported as ONNX with optimum-cli"},
    Signature{0, "CBM1",
              "is a model of CatBoost; write it as ONNX, and give that file: "
              "model = catboost.CatBoost().load_model('{0}'); model.save_model('{1}', format='onnx')"},
    Signature{
        0, "tree\n",
        "is a model of LightGBM; write it as ONNX with onnxmltools.convert_lightgbm, and give that file"},
    Signature{0, "\x89PNG", "is a picture, not a network; give it as data"},
    Signature{0, "\xff\xd8\xff", "is a picture, not a network; give it as data"},
};

// Kinds that their names tell, where the content is like that of others.
struct KnownName {
  std::string_view extension;
  const char* what;
};
constexpr const char* give_source =
    "is a network for another program, which is not read; give the network that it was made from, exported "
    "as "
    "ONNX";
constexpr const char* tensorflow_weights =
    "is a checkpoint of TensorFlow: weights without their network. Load them where the network is defined, "
    "and "
    "save it whole: model.save('net.keras')";
constexpr std::array extensions{
    KnownName{".mlmodel", give_source},
    KnownName{".engine", give_source},
    KnownName{".plan", give_source},
    KnownName{".trt", give_source},
    KnownName{".mnn", give_source},
    KnownName{".xml", give_source},
    KnownName{".rknn", give_source},
    KnownName{".hef", give_source},
    KnownName{".blob", give_source},
    KnownName{".dlc", give_source},
    KnownName{".param", give_source},
    KnownName{".ckpt", tensorflow_weights},
    KnownName{".index", tensorflow_weights},
    KnownName{
        ".caffemodel",
        "is a network of Caffe, which is not read; convert it to ONNX (caffe2onnx), and give that file"},
    KnownName{
        ".prototxt",
        "is a network of Caffe, which is not read; convert it to ONNX (caffe2onnx), and give that file"},
    KnownName{".params", "holds weights of MXNet; export its network as ONNX with mx.onnx.export_model"},
    KnownName{
        ".pdmodel",
        "is a network of PaddlePaddle, which is not read; convert it to ONNX with paddle2onnx, and give "
        "that file"},
    KnownName{".ubj",
              "is a model of XGBoost; write it as ONNX with onnxmltools.convert_xgboost, and give that file"},
};

[[noreturn]] void refuse_as(const char* what, const fs::path& path) {
  fail(Fault::unsupported, "{}", fmt::format(fmt::runtime(what), path.filename().string(), onnx_name(path)));
}

// The first number of files that torch.save() wrote before they were archives.
constexpr std::string_view old_torch{"\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14};

void refuse_pickled(const fs::path& path) {
  const std::string head = read_start(path, head_size);
  if (head.starts_with(old_torch) || holds(head, "torch")) refuse_torch_weights(path);
  refuse_pickle(path, head);
}

}  // namespace

void refuse_saved_model(const fs::path& folder) {
  fail(Fault::unsupported,
       "is a TensorFlow SavedModel, which is not read; save the model with model.save('net.keras'), or "
       "export it: "
       "python -m tf2onnx.convert --saved-model {} --output net.onnx",
       folder.string());
}

void refuse_foreign(const fs::path& path, const std::string& start) {
  if (start.starts_with("PK\x03\x04")) return refuse_archive(path);
  for (const Signature& kind : signatures) {
    if (start.size() >= kind.place + kind.bytes.size() &&
        start.compare(kind.place, kind.bytes.size(), kind.bytes) == 0)
      refuse_as(kind.what, path);
  }
  if (start.starts_with("\x93NUMPY")) refuse_arrays();
  if (start.size() >= 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5) refuse_pickled(path);
}

void refuse_foreign_name(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".pkl" || extension == ".pickle" || extension == ".joblib") refuse_pickled(path);
  for (const KnownName& kind : extensions) {
    if (kind.extension == extension) refuse_as(kind.what, path);
  }
  if (extension == ".pb" || extension == ".pbtxt") {
    fail(Fault::unsupported,
         "is a frozen graph of TensorFlow, which is not read; convert it, and give that file: "
         "pip install tf2onnx; "
         "python -m tf2onnx.convert --graphdef {} --inputs NAME:0 --outputs NAME:0 --output {}",
         path.filename().string(), onnx_name(path));
  }
}

}  // namespace assay::inline model
