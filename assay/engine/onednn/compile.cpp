#include <algorithm>

#include <assay/error.h>
#include "assay/engine/onednn/operators.h"
#include "assay/engine/onednn/program.h"
#include "assay/engine/onednn/reduce.h"

namespace assay::onednn {
namespace {

std::span<const std::size_t> positions(const std::map<ValueId, std::vector<std::size_t>>& known, ValueId id) {
  const auto found = known.find(id);
  return found == known.end() ? std::span<const std::size_t>() : found->second;
}

}  // namespace

Compiler::Compiler(const SegmentRequest& request, std::span<const ValueId> inputs, std::int64_t rows)
    : request_(request), graph_(*request.graph) {
  program_.rows = rows;
  program_.outputs.resize(request.keep.size());
  program_.taps.resize(request.taps.size());
  for (const int n : request.nodes) inside_.insert(n);
  for (std::size_t t = 0; t < request.taps.size(); ++t) taps_at_[request.taps[t].value].push_back(t);
  for (std::size_t o = 0; o < request.keep.size(); ++o) outputs_at_[request.keep[o]].push_back(o);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    places_[inputs[i]] = {plain(shape(inputs[i])), Place::Kind::input, static_cast<int>(i)};
  }
}

dnnl::memory::dims Compiler::shape(ValueId id) const {
  dnnl::memory::dims dims = request_.shape_of(id);
  dims[0] = program_.rows;
  return dims;
}

dnnl::memory::desc Compiler::plain(const dnnl::memory::dims& dims) {
  dnnl::memory::dims strides(dims.size(), 1);
  for (std::size_t d = dims.size() - 1; d-- > 0;)
    strides[d] = strides[d + 1] * std::max<std::int64_t>(dims[d + 1], 1);
  return {dims, dnnl::memory::data_type::f32, strides};
}

dnnl::memory::desc Compiler::any(const dnnl::memory::dims& dims) {
  return {dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

bool Compiler::wanted(ValueId id) const { return outputs_at_.contains(id) || taps_at_.contains(id); }

const Node* Compiler::sole_reader(ValueId id) const {
  const auto readers = graph_.consumers(id);
  if (wanted(id) || readers.size() != 1 || !inside_.contains(readers[0])) return nullptr;
  return &graph_.node(readers[0]);
}

Absorber Compiler::absorber() {
  return {.graph = graph_,
          .sole_reader = [this](ValueId id) { return sole_reader(id); },
          .fuse = [this](const Node& node) { fuse(node); }};
}

Place Compiler::buffer(const dnnl::memory::desc& desc) {
  // Best fit among the free buffers, else a new one.
  const std::size_t bytes = desc.get_size();
  int best = -1;
  for (const int candidate : free_) {
    const std::size_t size = program_.buffers[static_cast<std::size_t>(candidate)];
    if (size >= bytes && (best < 0 || size < program_.buffers[static_cast<std::size_t>(best)]))
      best = candidate;
  }
  if (best >= 0) {
    free_.erase(best);
  } else {
    best = static_cast<int>(program_.buffers.size());
    program_.buffers.push_back(bytes);
  }
  return {desc, Place::Kind::buffer, best};
}

void Compiler::release(const Place& place) {
  if (place.kind == Place::Kind::buffer) free_.insert(place.index);
}

Place Compiler::weight(const Array& array, const dnnl::memory::dims& dims,
                       const dnnl::memory::desc& wanted_desc) {
  dnnl::memory source(plain(dims), cpu(), const_cast<std::byte*>(array.data()));
  dnnl::memory target(wanted_desc, cpu());
  dnnl::stream stream(cpu());
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
  program_.weights.push_back(target);
  return {wanted_desc, Place::Kind::weight, static_cast<int>(program_.weights.size()) - 1};
}

const Place& Compiler::place(ValueId id) const { return places_.at(id); }

Place Compiler::in_layout(ValueId id, const dnnl::memory::dims& dims, const dnnl::memory::desc& wanted_desc) {
  Place source = place(id);
  if (dims_of(source.desc) !=
      dims) {  // a flattened view; only plain layouts can be viewed under another shape
    source = in_layout(id, dims_of(source.desc), plain(dims_of(source.desc)));
    source.desc = plain(dims);
  }
  if (source.desc == wanted_desc) return source;
  const Place target = buffer(wanted_desc);
  const dnnl::reorder::primitive_desc reorder(cpu(), source.desc, cpu(), wanted_desc);
  program_.steps.push_back({dnnl::reorder(reorder), {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}}});
  temporaries_.push_back(target);
  return target;
}

Place Compiler::plainly(ValueId id) { return in_layout(id, shape(id), plain(shape(id))); }

dnnl::primitive_attr Compiler::attributes(const dnnl::post_ops& post) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_post_ops(post);
  return attr;
}

void Compiler::step(dnnl::primitive primitive, std::vector<std::pair<int, Place>> arguments,
                    const dnnl::memory::desc& scratchpad) {
  if (scratchpad.get_size() > 0) {
    const Place scratch = buffer(scratchpad);
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, scratch);
    temporaries_.push_back(scratch);
  }
  program_.steps.push_back({std::move(primitive), std::move(arguments)});
}

void Compiler::define(ValueId id, const Place& place) {
  places_[id] = place;
  produced(id);
}

void Compiler::alias(ValueId id, const Place& place) {
  if (place.kind == Place::Kind::buffer) ++shares_[place.index];  // one more owner
  define(id, place);
}

// Records taps and outputs at the moment the value exists, while it is in cache.
void Compiler::produced(ValueId id) {
  const Place place = places_.at(id);
  for (const std::size_t t : positions(taps_at_, id)) {
    const bool readable_as_is = dims_of(place.desc) == shape(id) && reducible(place.desc);
    const Place readable = readable_as_is ? place : plainly(id);
    program_.taps[t] = {static_cast<int>(program_.steps.size()) - 1, readable, request_.taps[t].reduction,
                        request_.taps[t].whole};
  }
  for (const std::size_t o : positions(outputs_at_, id)) {
    Output& output = program_.outputs[o];
    output.after = static_cast<int>(program_.steps.size()) - 1;
    output.place = place;
    output.plain = plain(dims_of(place.desc));  // a flattened view has the same bytes
    output.reorder =
        dnnl::reorder(dnnl::reorder::primitive_desc(cpu(), output.place.desc, cpu(), output.plain));
  }
}

Program Compiler::compile() {
  std::map<ValueId, std::size_t> last_reader;
  for (std::size_t i = 0; i < request_.nodes.size(); ++i) {
    for (const ValueId in : node(i).inputs) {
      if (in != no_value) last_reader[in] = i;
    }
  }
  for (std::size_t i = 0; i < request_.nodes.size(); ++i) {
    if (!fused_.contains(request_.nodes[i])) compile_node(*this, node(i));
    for (const Place& temporary : temporaries_) release(temporary);
    temporaries_.clear();
    // Values whose last reader this was give their buffers back.
    for (auto it = places_.begin(); it != places_.end();) {
      const auto last = last_reader.find(it->first);
      const bool dead = last == last_reader.end() || last->second <= i;
      if (!dead || it->second.kind != Place::Kind::buffer) {
        ++it;
        continue;
      }
      if (shares_[it->second.index] > 0) {
        --shares_[it->second.index];
      } else {
        release(it->second);
      }
      it = places_.erase(it);
    }
  }
  return std::move(program_);
}

const Node& Compiler::node(std::size_t i) const { return graph_.node(request_.nodes[i]); }

void Compiler::fuse(const Node& node) { fused_.insert(static_cast<int>(&node - graph_.nodes().data())); }

Program compile(const SegmentRequest& request, std::span<const ValueId> inputs, std::int64_t rows) {
  return Compiler(request, inputs, rows).compile();
}

}  // namespace assay::onednn
