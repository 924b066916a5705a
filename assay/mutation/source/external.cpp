// The protocol between Assay and a trainer: a folder with the data as .npz or pictures, the network as ONNX
// and mutant.json, whose path is the command's last argument; the command leaves the trained network in that
// folder.

#include "assay/mutation/source/external.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/data/files/image_folder.h"
#include "assay/data/files/numpy.h"
#include "assay/support/child_process.h"
#include "assay/support/files/file.h"

namespace assay::mutation {
namespace {

namespace fs = std::filesystem;
using TrainerJson = nlohmann::json;

constexpr std::size_t kept_output = 1 << 16;  // bytes of what a trainer prints
constexpr std::size_t shown_output = 300;     // of them in messages

// A folder of one training, removed with all in it.
class WorkFolder {
 public:
  WorkFolder(const fs::path& store, const std::string& key) {
    make_folders(store);
    // A temporary name is unique; the folder stands next to it.
    const TemporaryFile unique = make_temporary(store / (key + ".work"));
    path_ = unique.path.string() + ".folder";
    ::close(unique.descriptor);
    std::error_code ignored;
    make_folders(path_);
    fs::remove(unique.path, ignored);
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Writes records as FOLDER/NAME.npz, or pictures into FOLDER/NAME. Gives the path and what pixels stand for.
TrainerJson write_records(const Dataset& data, const fs::path& folder, const std::string& name,
                          bool pictures) {
  if (pictures) {
    const PixelScale scale = write_image_folder(data, folder / name);
    return {{"path", (folder / name).string()},
            {"pixels", {{"low", scale.low}, {"high", scale.high}, {"changed", scale.changed}}}};
  }
  std::vector<std::size_t> all(data.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const fs::path file = folder / (name + ".npz");
  write_npz(file, arrays_of(data.read(all)));
  return {{"path", file.string()}, {"pixels", nullptr}};
}

// A spec as name and options.
TrainerJson spec_of(const std::string& kind, const std::string& text) {
  const Spec spec = parse_spec(kind, text);
  return {{"name", spec.name}, {"options", TrainerJson(spec.options)}};
}

// "keras,he-normal[layer=conv1]" as a list.
TrainerJson specs_of(const std::string& kind, const std::string& text) {
  TrainerJson list = TrainerJson::array();
  if (!text.empty())
    for (const std::string& one : split_specs(text)) list.push_back(spec_of(kind, one));
  return list;
}

TrainerJson recipe_of(const training::Recipe& recipe) {
  TrainerJson json{{"loss", spec_of("loss", recipe.loss)},
                   {"optimiser", spec_of("optimiser", recipe.optimiser)},
                   {"learning_rate", training::learning_rate_of(recipe)},
                   {"decay", recipe.decay},
                   {"weight_decay", recipe.weight_decay},
                   {"regularisation", specs_of("regulariser", recipe.regularisation)},
                   {"clip_norm", recipe.clip_norm},
                   {"clip_value", recipe.clip_value},
                   {"batch", recipe.batch},
                   {"epochs", recipe.epochs},
                   {"shuffle", recipe.shuffle},
                   {"initialiser", specs_of("initialiser", recipe.initialiser)},
                   {"validation_share", recipe.validation_share},
                   {"patience", nullptr},
                   {"min_delta", recipe.min_delta},
                   {"best_epoch", recipe.best_epoch}};
  if (recipe.patience) json["patience"] = *recipe.patience;
  return json;
}

TrainerJson description_of(const TrainingJob& job, const Program& program, const fs::path& folder) {
  TrainerJson description{{"protocol", 1},
                          {"mutant", job.what},
                          {"operator", nullptr},
                          {"options", TrainerJson::object()},
                          {"place", nullptr},
                          {"seed", program.recipe.seed},
                          {"recipe", recipe_of(program.recipe)},
                          {"classes", program.training->class_names()},
                          {"training", nullptr},
                          {"validation", nullptr},
                          {"pixels", nullptr},
                          {"network", (folder / "network.onnx").string()},
                          {"out", folder.string()}};
  if (!job.mutant) return description;
  description["operator"] = job.mutant->op.name;
  description["place"] = job.mutant->layer;
  const SpecOptions options = options_of(job.mutant->choice());
  for (const SpecOption& option : info_of(job.mutant->choice()).options)
    description["options"][option.name] = options.text(option.name);
  return description;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// The one network file that there is.
fs::path network_left(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const char* name : {"trained.onnx", "trained.keras", "trained.h5"})
    if (fs::exists(folder / name)) found.push_back(folder / name);
  if (found.empty())
    fail(Fault::data, "the trainer left no network: trained.onnx, trained.keras or trained.h5 is missing");
  if (found.size() > 1) fail(Fault::data, "the trainer left several networks");
  return found.front();
}

std::string last_words(const ChildResult& result) {
  std::string text = result.errors.empty() ? result.output : result.errors;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > shown_output) text = "..." + text.substr(text.size() - shown_output);
  return text.empty() ? "it printed nothing" : "it printed: " + text;
}

void complain_of(const ChildResult& result, const TrainingPlan& plan) {
  if (result.timed_out)
    fail(Fault::data, "the trainer took more than {} s and was ended; {}", plan.time_limit,
         last_words(result));
  if (result.signal != 0)
    fail(Fault::data, "the trainer was ended by signal {}; {}", result.signal, last_words(result));
  // Shells add 128 to the signal that ended what they had started.
  constexpr int shell_base = 128, signals = 64;
  if (result.exit_code > shell_base && result.exit_code <= shell_base + signals)
    fail(Fault::data, "the trainer ended with exit code {}, a shell's word for signal {}; {}",
         result.exit_code, result.exit_code - shell_base, last_words(result));
  if (result.exit_code != 0)
    fail(Fault::data, "the trainer ended with exit code {}; {}", result.exit_code, last_words(result));
}

}  // namespace

Graph train_by_command(const TrainingJob& job, const Program& program, const std::string& key,
                       const TrainingPlan& plan, const std::function<bool()>& stop) {
  const WorkFolder folder(fs::absolute(plan.store), key);
  TrainerJson description = description_of(job, program, folder.path());
  const auto give = [&](const char* name, const Dataset& data) {
    const TrainerJson written = write_records(data, folder.path(), name, plan.pictures);
    description[name] = written["path"];
    if (!written["pixels"].is_null()) description["pixels"][name] = written["pixels"];
  };
  give("training", *program.training);
  if (program.validation) give("validation", *program.validation);
  write_onnx(program.graph, folder.path() / "network.onnx");
  const fs::path file = folder.path() / "mutant.json";
  write_file(file, description.dump(1, ' ', false, TrainerJson::error_handler_t::replace) + "\n");
  const ChildResult result = run_child(plan.command + " " + quoted(file.string()), {},
                                       {.total = plan.time_limit, .kept = kept_output, .stop = stop});
  if (result.stopped) throw Error(Fault::interrupted, "interrupted");
  write_file(TrainedStore(plan.store).log(key), result.output + result.errors);
  complain_of(result, plan);
  return read_model(network_left(folder.path()));
}

}  // namespace assay::mutation
