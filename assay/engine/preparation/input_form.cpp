#include "assay/engine/preparation/input_form.h"

#include <assay/array_math.h>

#include <algorithm>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include "assay/engine/elements.h"
#include "assay/model/element_type.h"

namespace assay::inline engine {
namespace {

// Recurrent operators have the batch of sequences and of initial states on axis 1, unless an attribute says
// otherwise.
bool is_recurrent_operand(const Graph& graph, ValueId input) {
  const auto readers = graph.consumers(input);
  return !readers.empty() && std::ranges::all_of(readers, [&](NodeId n) {
    const Node& node = graph.node(n);
    if (!is_recurrent(node.op) || node.integer("layout", 0) != 0) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == input && i != 0 && i != 5 && i != 6) return false;
    }
    return true;
  });
}

int batch_axis_of(const Graph& graph, ValueId input) {
  const Shape& declared = graph.value(input).shape;
  if (declared.empty()) return -1;
  if (std::ranges::count(declared, -1) == 1) {
    const auto open = std::ranges::find(declared, -1) - declared.begin();
    // An open width or length after a batch of one is of the record; states of recurrent cells have their
    // records along the middle axis of three.
    const bool of_record = declared[0] == 1 && open > 0 && !(declared.size() == 3 && open == 1);
    return of_record ? 0 : static_cast<int>(open);
  }
  return declared.size() == 3 && is_recurrent_operand(graph, input) ? 1 : 0;
}

bool matches(const Shape& record, const Shape& wanted) {
  return std::ranges::equal(record, wanted, [](auto have, auto want) { return want < 0 || have == want; });
}

Shape without_ones(const Shape& shape) {
  Shape rest;
  std::ranges::copy_if(shape, std::back_inserter(rest), [](auto dim) { return dim != 1; });
  return rest;
}

bool is_static(const Shape& shape) {
  return std::ranges::none_of(shape, [](auto dim) { return dim < 0; });
}

// A hint for records whose shape differs from the network's input.
std::string shape_hint(const Value& input, const Shape& record, const Shape& wanted) {
  if (!is_real(input.dtype) && record.size() == 1 && wanted.size() == 1) {
    const bool any_length = input.shape.empty() || input.shape.back() < 0;
    return fmt::format(
        "if these are tokens, texts are filled up to the longest of their data; give all data the same "
        "length, as with the data option length={}; else give as many columns as the network takes",
        any_length ? std::max(record[0], wanted[0]) : wanted[0]);
  }
  if (record.size() >= 3 && record.size() == wanted.size()) {
    Shape moved = record;
    std::rotate(moved.begin(), moved.end() - 1, moved.end());
    if (matches(moved, wanted))
      return "the records seem to have their channels last: say layout=nhwc in the data specification";
  }
  if (record.size() == 3 && wanted.size() == 3) {
    if (matches({record[1], record[2], record[0]}, wanted)) {
      return "the network takes channels last while records have them first: turn it by "
             "with_channels_first()";
    }
    if (matches({wanted[0], record[1], record[2]}, wanted)) {
      return fmt::format(
          "the records have {} channel(s) and the network takes {}: convert to grey or RGB in the data "
          "specification",
          record[0], wanted[0]);
    }
    if (record[0] == wanted[0]) return "the sizes differ: resize the images in the data specification";
  }
  if (is_static(wanted) && element_count(record) == element_count(wanted)) {
    return wanted.size() == 1 ? "the number of elements is the same: flatten=1 in the data specification "
                                "makes them vectors, "
                                "channel by channel"
                              : "the number of elements is the same, but their order is ambiguous";
  }
  return "are these the data that the network was trained for?";
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
  return text;
}

[[noreturn]] void fail_matching(const Graph& graph, const std::vector<NamedShape>& given) {
  std::vector<std::string> missing, extra, names;
  std::string takes, gives;
  for (const NamedShape& input : given) {
    names.push_back(input.name);
    gives += fmt::format("{}{}{}{}", gives.empty() ? "" : " and ", input.name, input.name.empty() ? "" : " ",
                         to_string(input.record));
  }
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    takes += fmt::format("{}{} {}", takes.empty() ? "" : " and ", value.name, to_string(value.shape));
    if (std::ranges::find(names, value.name) == names.end()) missing.push_back(value.name);
    std::erase(names, value.name);
  }
  for (const std::string& name : names) {
    if (!name.empty()) extra.push_back(name);
  }
  std::string problem;
  if (!missing.empty()) problem += "; the data have no " + listed(missing);
  if (!extra.empty()) problem += "; the network has no " + listed(extra);
  std::string spec;
  for (const ValueId id : graph.inputs()) spec += (spec.empty() ? "" : "+") + graph.value(id).name;
  fail(Fault::mismatch,
       "network '{}' takes {}, but records are {}{}; several inputs are matched by name, such as the arrays "
       "of an archive by 'inputs={}', or the columns of a table by words=NETWORK",
       graph.name(), takes, gives, problem, spec);
}

// For an input that takes one number for all records.
Array common_number(const Array& numbers, const std::string& input) {
  if (numbers.rank() != 1 || numbers.count() == 0 || !numbers.eq(numbers[0]).all().item<bool>())
    fail(Fault::mismatch, "input '{}' takes one number for all records; those that were given differ", input);
  return numbers[0];
}

bool all_integers(const Array& tensor) { return tensor.eq(tensor.round()).all().item<bool>(); }

}  // namespace

std::optional<Shape> fit_record(const Shape& record, const Shape& wanted) {
  if (matches(record, wanted)) return record;
  if (!is_static(wanted)) return std::nullopt;
  const Shape have = without_ones(record), want = without_ones(wanted);
  if (have == want) return wanted;
  const bool flattening = have.size() <= 2 && want.size() <= 2 && (have.size() == 1 || want.size() == 1);
  if (flattening && element_count(have) == element_count(want)) return wanted;
  return std::nullopt;
}

const Shape& RecordShapes::of(const Graph& graph, ValueId input) const {
  static const Shape unknown;
  const auto found = named.find(graph.value(input).name);
  if (found != named.end()) return found->second;
  return input == graph.inputs()[0] ? first : unknown;
}

InputForm input_form(const Graph& graph, ValueId input, const RecordShapes& known) {
  const Value& value = graph.value(input);
  const Shape& record_shape = known.of(graph, input);
  if (value.shape.empty() && !record_shape.empty()) return {.batch_axis = 0, .record = record_shape};
  InputForm form;
  form.batch_axis = batch_axis_of(graph, input);
  form.record = value.shape;
  if (form.batch_axis >= 0) {
    const auto batch = form.record.begin() + form.batch_axis;
    form.fixed_batch = std::max<std::int64_t>(*batch, 0);
    form.record.erase(batch);
  }
  if (record_shape.empty()) return form;
  const auto fitting = fit_record(record_shape, form.record);
  if (!fitting && graph.inputs().size() > 1 && known.named.empty())
    fail_matching(graph, {NamedShape{.name = "", .record = record_shape}});
  if (!fitting) {
    fail(Fault::mismatch, "records have the shape {}, but input '{}' of network '{}' takes {}; {}",
         to_string(record_shape), value.name, graph.name(), to_string(form.record),
         shape_hint(value, record_shape, form.record));
  }
  form.record = *fitting;
  return form;
}

bool becomes_real(const Graph& graph, ValueId input) {
  if (graph.value(input).dtype != DType::uint8) return false;
  const std::vector<DType> types = element_types(graph);
  std::vector<ValueId> bytes{input};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool is_output = std::ranges::find(graph.outputs(), bytes[i]) != graph.outputs().end();
    if (is_output || graph.consumers(bytes[i]).empty()) return false;
    for (const NodeId n : graph.consumers(bytes[i])) {
      const Node& node = graph.node(n);
      const DType type = types[index_of(node.outputs[0])];
      if (node.op == "Cast" && (type == DType::float32 || type == DType::float64)) continue;
      if (node.inputs[0] != bytes[i] || !(node.op == "Transpose" || has_trait(node.op, Trait::reshapes)))
        return false;
      bytes.push_back(node.outputs[0]);
    }
  }
  return true;
}

Shape record_of(const Array& records) {
  if (records.shape().empty()) return {};
  return {records.shape().begin() + 1, records.shape().end()};
}

std::vector<ValueId> matching_inputs(const Graph& graph, const std::vector<NamedShape>& given) {
  const auto inputs = graph.inputs();
  if (given.size() != inputs.size()) fail_matching(graph, given);
  if (given.size() == 1) return {inputs[0]};
  std::vector<ValueId> ids;
  for (const NamedShape& input : given) {
    const auto found =
        std::ranges::find_if(inputs, [&](ValueId id) { return graph.value(id).name == input.name; });
    if (found == inputs.end()) fail_matching(graph, given);
    ids.push_back(*found);
  }
  return ids;
}

Array bind_records(const Graph& graph, ValueId input, const RecordShapes& known, const Array& records) {
  const Value& value = graph.value(input);
  if (records.shape().empty())
    fail(Fault::usage, "input '{}' was given a single number, not records", value.name);
  const Shape record = record_of(records);
  const bool unknown = known.of(graph, input).empty();
  const InputForm form = input_form(graph, input, unknown ? RecordShapes{{}, {{value.name, record}}} : known);
  const auto fitting = fit_record(record, form.record);
  if (!fitting) {
    fail(Fault::mismatch, "records have the shape {}, but input '{}' of network '{}' takes {}; {}",
         to_string(record), value.name, graph.name(), to_string(form.record),
         shape_hint(value, record, form.record));
  }
  Shape shape = *fitting;
  shape.insert(shape.begin(), records.shape()[0]);
  Array tensor = records.reshape(shape);
  if (form.batch_axis < 0) tensor = common_number(tensor, value.name);
  const DType wanted = value.dtype;
  if (!is_real(wanted) && is_real(tensor.dtype()) && !all_integers(tensor)) {
    const bool of_bytes = value.dtype == DType::uint8;
    fail(Fault::mismatch,
         "input '{}' of network '{}' takes {} numbers ({}), but the records hold fractions; {}", value.name,
         graph.name(), to_string(value.dtype), of_bytes ? "8-bit pictures, for instance" : "tokens, say",
         of_bytes ? "for pictures, add scale=1 to the data specification, which keeps them from 0 to 255"
                  : "is the data scaled for another network?");
  }
  tensor = in_memory(tensor, wanted);
  return form.batch_axis > 0 ? tensor.movedim(0, form.batch_axis).contiguous() : tensor;
}

}  // namespace assay::inline engine
