#include "assay/engine/torch/backend.h"

#include <algorithm>
#include <map>
#include <mutex>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/engine/parameters.h"
#include "assay/engine/torch/load.h"
#include "assay/engine/torch/steps.h"

namespace assay::inline engine {
namespace {

using torch_module::HostNumbers;
using torch_module::Role;

// What the module says of its own accord becomes an error of ours.
template <typename Work>
auto guarded(const Work& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    const std::string_view text = error.what();
    fail(text.find("out of memory") != std::string_view::npos ? Fault::resources : Fault::internal,
         "engine 'torch': {}", text.substr(0, text.find('\n')));
  }
}

class TorchSegment : public Segment {
 public:
  TorchSegment(const torch_module::Device& device, SegmentRequest request)
      : request_(std::move(request)), inputs_(outside_inputs(request_)) {
    inputs_.insert(inputs_.end(), request_.trainable.begin(), request_.trainable.end());
    torch_module::ModulePlan plan = torch_module::plan_of(request_, inputs_);
    for (const NodeId n : request_.nodes) {
      for (const ValueId id : request_.graph->node(n).inputs)
        if (request_.graph->is_constant(id)) held_.push_back(request_.graph->constant(id));
    }
    compiled_ = guarded([&] { return device.compile(std::move(plan)); });
  }

  std::span<const ValueId> inputs() const override { return inputs_; }
  std::span<const ValueId> outputs() const override { return request_.keep; }

  void run(const Tensors& given, Tensors& results, std::span<float* const> tapped) const override {
    const Given here(given, inputs_);
    std::vector<float*> places;
    for (const ValueId id : request_.keep)
      places.push_back((results[id] = array::empty(whole(id, here.records))).elements<float>());
    guarded([&] { compiled_->run(here.numbers, places, tapped); });
  }

  std::vector<Array> gradients(const Tensors& given, std::span<const Array> of_outputs,
                               std::span<const ValueId> wanted) const override {
    std::vector<Array> seeds;
    std::vector<const float*> places;
    for (const Array& gradient : of_outputs) {
      seeds.push_back(gradient.defined() ? gradient.contiguous() : gradient);
      places.push_back(gradient.defined() ? seeds.back().elements<float>() : nullptr);
    }
    return go_back(given, wanted, {}, 1, [&](std::span<const HostNumbers>) {
      return std::vector<std::vector<const float*>>{places};
    })[0];
  }

  RecordGradients gradients(const Tensors& given, const RecordObjective& objective,
                            std::span<const ValueId> wanted) const override {
    RecordGradients result;
    std::vector<std::vector<Array>> seeds;  // by number and value read
    const auto start = [&](std::span<const HostNumbers> read) {
      seeds = seeds_of(objective, read, result.value);
      std::vector<std::vector<const float*>> places(objective.numbers);
      for (std::size_t n = 0; n < places.size(); ++n) {
        places[n].assign(request_.keep.size(), nullptr);
        for (std::size_t r = 0; r < objective.read.size(); ++r)
          places[n][output_of(objective.read[r])] = seeds[n][r].elements<float>();
      }
      return places;
    };
    for (const std::vector<Array>& of_number :
         go_back(given, wanted, objective.read, objective.numbers, start)) {
      Tensors& gradients = result.gradients.emplace_back();
      for (std::size_t w = 0; w < wanted.size(); ++w) gradients.emplace(wanted[w], of_number[w]);
    }
    return result;
  }

 private:
  // What is given, in the order of the inputs.
  struct Given {
    Given(const Tensors& given, std::span<const ValueId> ids) {
      for (const ValueId id : ids) {
        const Array& array = held.emplace_back(given.at(id).contiguous());
        numbers.push_back({array.data(), array.dtype(), array.shape()});
      }
      records = held.at(0).size(0);
    }
    std::vector<Array> held;
    std::vector<HostNumbers> numbers;
    std::int64_t records = 0;
  };

  Shape whole(ValueId id, std::int64_t records) const {
    Shape shape = request_.shape_of(id);
    shape[0] = records;
    return shape;
  }

  std::size_t output_of(ValueId id) const {
    return std::ranges::find(request_.keep, id) - request_.keep.begin();
  }

  // By number and wanted value.
  template <typename Start>
  std::vector<std::vector<Array>> go_back(const Tensors& given, std::span<const ValueId> wanted,
                                          std::span<const ValueId> read, std::size_t numbers,
                                          const Start& start) const {
    const Given here(given, inputs_);
    torch_module::WayBack way{{}, {}, start};
    for (const ValueId id : wanted)
      way.wanted.push_back(static_cast<std::size_t>(std::ranges::find(inputs_, id) - inputs_.begin()));
    for (const ValueId id : read) way.read.push_back(output_of(id));
    std::vector<std::vector<Array>> found(numbers);
    std::vector<std::vector<float*>> places(numbers);
    for (std::size_t n = 0; n < numbers; ++n) {
      for (const ValueId id : wanted)
        places[n].push_back(found[n].emplace_back(array::empty(given.at(id).shape())).elements<float>());
    }
    guarded([&] { compiled_->gradients(here.numbers, way, places); });
    return found;
  }

  // Asks the objective record by record; `value`: a copy of what is read first.
  static std::vector<std::vector<Array>> seeds_of(const RecordObjective& objective,
                                                  std::span<const HostNumbers> read, Array& value) {
    std::vector<std::vector<Array>> seeds(objective.numbers);
    std::vector<std::int64_t> sizes;
    std::int64_t all = 0;
    for (const HostNumbers& numbers : read) {
      for (std::vector<Array>& of_number : seeds) of_number.push_back(array::empty(numbers.shape));
      sizes.push_back(element_count(numbers.shape) / numbers.shape[0]);
      all += sizes.back();
    }
    value = Array::around(const_cast<void*>(read[0].data), DType::float32, read[0].shape).clone();
    std::vector<float> elements(static_cast<std::size_t>(all));
    for (std::int64_t record = 0; record < read[0].shape[0]; ++record) {
      float* to = elements.data();
      for (std::size_t r = 0; r < read.size(); ++r)
        to = std::copy_n(static_cast<const float*>(read[r].data) + record * sizes[r], sizes[r], to);
      std::vector<float> asked(objective.numbers * elements.size());
      objective.gradients(static_cast<std::size_t>(record), elements, asked);
      const float* from = asked.data();
      for (const std::vector<Array>& of_number : seeds) {
        for (std::size_t r = 0; r < read.size(); from += sizes[r], ++r)
          std::copy_n(from, sizes[r], of_number[r].elements<float>() + record * sizes[r]);
      }
    }
    return seeds;
  }

  SegmentRequest request_;
  std::vector<ValueId> inputs_;
  std::vector<Array> held_;  // constants, which the compiled plan does not own
  std::unique_ptr<torch_module::CompiledPlan> compiled_;
};

class TorchBackend : public Backend {
 public:
  explicit TorchBackend(std::unique_ptr<torch_module::Device> device) : device_(std::move(device)) {}
  std::string_view name() const override { return "torch"; }

  bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of) const override {
    if (!device_->knows(node.op) || drops(graph, node)) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != no_value && !is_there(graph, node, i, shape_of)) return false;
    }
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const ValueId id = node.outputs[o];
      if (o > 0 && is_read(graph, id) && node.op != "Split") return false;  // computes the first alone
      if ((o == 0 || is_read(graph, id)) && (id == no_value || !is_batch(shape_of(id)))) return false;
    }
    const auto step = torch_module::step_of(graph, node, shape_of);
    return step && guarded([&] { return device_->takes(*step); });
  }
  // Not known, and of no matter: it is the only one where it is chosen.
  double cost(const Graph&, const Node&, const ShapeOf&) const override { return 0; }
  // Batches are chosen so that they fit, and no thread has one of its own.
  double kept_bytes(const Node&, const ShapeOf&) const override { return 0; }
  bool trains(const Graph& graph, const Node& node, std::size_t input) const override {
    const Role role = device_->role(node.op, input);
    return (role == Role::data || role == Role::weights) && is_float_constant(graph, node, input);
  }
  bool differentiates() const override { return true; }
  bool redistributes() const override { return false; }
  bool keeps_nan() const override { return true; }
  bool reduces_last_axis() const override { return true; }
  std::unique_ptr<Segment> compile(SegmentRequest request) const override {
    return std::make_unique<TorchSegment>(*device_, std::move(request));
  }

 private:
  static bool is_batch(const Shape& shape) {
    return shape.size() >= 2 && shape[0] == 1 &&
           std::ranges::all_of(shape, [](std::int64_t size) { return size > 0; });
  }

  bool is_there(const Graph& graph, const Node& node, std::size_t input, const ShapeOf& shape_of) const {
    const ValueId id = node.inputs[input];
    switch (device_->role(node.op, input)) {
      case Role::unread:
        return true;
      case Role::data:
        return graph.is_constant(id) || is_batch(shape_of(id));
      default:
        return graph.is_constant(id);
    }
  }

  std::unique_ptr<torch_module::Device> device_;
};

}  // namespace

const Backend& torch_backend(const std::string& device) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<TorchBackend>> opened;
  const std::lock_guard lock(mutex);
  std::unique_ptr<TorchBackend>& backend = opened[device];
  if (!backend) backend = std::make_unique<TorchBackend>(torch_module::open(device));
  return *backend;
}

bool has_torch_module() { return !torch_module::file().empty(); }

}  // namespace assay::inline engine
