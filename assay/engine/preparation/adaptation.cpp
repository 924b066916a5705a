#include "assay/engine/preparation/adaptation.h"

#include <assay/array_elements.h>
#include <assay/array_math.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <assay/error.h>
#include <assay/model.h>
#include <assay/token_decision.h>
#include <assay/unit_views.h>
#include "assay/engine/preparation/filled_rows.h"
#include "assay/engine/preparation/folder_notices.h"
#include "assay/engine/preparation/free_batch.h"
#include "assay/model/folder.h"
#include "assay/model/text_inputs.h"
#include "assay/support/memory.h"

namespace assay::inline engine {
namespace {

constexpr std::size_t compared_records = 500;

// Inputs that are fixed, and the output that decides: the network apart from its precision.
Graph with_choices(Graph graph, const AdaptOptions& options, const Dataset* data, Progress& progress) {
  for (const auto& [input, number] : options.fixed) graph = with_fixed_input(graph, input, number);
  if (options.decision.empty()) return graph;
  if (is_token_decision(options.decision))
    return with_token_decision(graph, options.decision, options.folder, data, progress);
  return with_decision(graph, options.decision);
}

// Of networks that run one record at a time, outputs joined of which a record has any number of rows: rows of
// boxes. With so many of each record, the first ones and after them rows of -1, which is the score of none.
constexpr std::int64_t rows_kept = 300;

bool joins_any_number_of_rows(const Session& session) {
  const Graph& graph = session.graph();
  const std::span<const ValueId> outputs = graph.outputs();
  if (session.group() != 1 || graph.value(outputs[0]).name.find('+') == std::string::npos) return false;
  const Shape& joined = session.shape(outputs[0]);
  // A batch of one record is one row, unless these are rows of what the record holds.
  return joined.size() == 2 && (joined[0] > 1 || std::ranges::any_of(outputs.subspan(1), [&](ValueId id) {
                                  const Shape& declared = graph.value(id).shape;
                                  return !declared.empty() && declared[0] < 0;
                                }));
}

// [rows, numbers], or [1, rows, numbers] with the record in front.
bool holds_rows(const Shape& shape) { return shape.size() == 2 || (shape.size() == 3 && shape[0] == 1); }

// The same of one output with rows of boxes, where labels may be boxes.
bool gives_any_number_of_boxes(const Session& session, const Dataset& data) {
  constexpr std::size_t label_width = 5;
  const Graph& graph = session.graph();
  if (session.group() != 1 || graph.outputs().size() != 1 || data.target_width() == 0 ||
      data.target_width() % label_width != 0 || !holds_rows(session.shape(graph.outputs()[0])))
    return false;
  const SessionOptions& options = session.options();
  return has_outputs_shaped_by_content(graph, Constants(graph, memory_limit()),
                                       {options.record_shape, options.record_shapes}, 1);
}

// The first rows, filled up, as one row [1, rows * width].
ValueId filled(GraphBuilder& edit, const std::string& name, ValueId rows, std::int64_t width) {
  const auto numbers = [&](const std::string& part, const std::vector<std::int64_t>& values) {
    return edit.constant(edit.unused_name(name + part), array::tensor(values));
  };
  const ValueId none =
      edit.constant(edit.unused_name(name + "/none"), array::full({rows_kept, width}, -1.0F));
  const ValueId more =
      edit.add("Concat", edit.unused_name(name + "/more"), {rows, none}, {{"axis", std::int64_t{0}}});
  const ValueId some =
      edit.add("Slice", edit.unused_name(name + "/some"),
               {more, numbers("/begin", {0}), numbers("/end", {rows_kept}), numbers("/axis", {0})});
  return edit.add("Reshape", edit.unused_name(name + std::string(filled_rows)),
                  {some, numbers("/shape", {1, rows_kept * width})});
}

Graph with_rows_filled(const Session& session) {
  const Graph& graph = session.graph();
  const NodeId join = graph.producer(graph.outputs()[0]);
  GraphBuilder edit(graph);
  Node joined = graph.node(join);
  for (ValueId& rows : joined.inputs)
    rows = filled(edit, graph.value(rows).name, rows, session.shape(rows).at(1));
  edit.replace_node(join, std::move(joined));
  return edit.build();
}

// With the filled rows of the only output in front of it, which tasks still read where they can.
Graph with_filled_rows_first(const Session& session) {
  const Graph& graph = session.graph();
  const ValueId rows = graph.outputs()[0];
  GraphBuilder edit(graph);
  const std::string& name = graph.value(rows).name;
  const std::int64_t width = session.shape(rows).back();
  ValueId plain = rows;
  if (session.shape(rows).size() > 2) {
    const Array shape = array::tensor(std::vector<std::int64_t>{-1, width});
    plain = edit.add("Reshape", edit.unused_name(name + "/rows"),
                     {rows, edit.constant(edit.unused_name(name + "/rows_shape"), shape)});
  }
  edit.set_outputs({filled(edit, name, plain, width), rows});
  return edit.build();
}

// Without views.
Session plain_session_of(AdaptedNetwork& network, const SessionOptions& options, const Dataset* data,
                         Progress& progress) {
  Session session(network.graph, options);
  for (const std::string& notice : session.notices()) progress.notice(notice);
  if (data != nullptr && joins_any_number_of_rows(session)) {
    progress.notice(fmt::format("output '{}' has any number of rows: the first {} of a record decide",
                                session.graph().value(session.graph().outputs()[0]).name, rows_kept));
    network.graph = with_rows_filled(session);
    return Session(network.graph, options);
  }
  if (data != nullptr && gives_any_number_of_boxes(session, *data)) {
    progress.notice(
        fmt::format("output '{}' has any number of rows: where records are compared, the first {} "
                    "of a record decide",
                    session.graph().value(session.graph().outputs()[0]).name, rows_kept));
    network.graph = with_filled_rows_first(session);
    network.form.added = true;
    return Session(network.graph, options);
  }
  // Where a record has one label, scores along another axis are a mistake more often than items.
  if (data == nullptr || data->target_width() < 2) return session;
  const ValueId first = session.graph().outputs()[0];
  const int axis = session.record_axis(first).axis;
  if (axis <= 0 || session.shape(first).size() < 3) return session;
  progress.notice(fmt::format("records lie along axis {} of output '{}'; it is transposed to have them first",
                              axis, session.graph().value(first).name));
  network.graph = with_records_first(session.graph(), axis, session.shape(first).size());
  network.form.added = true;
  return Session(network.graph, options);
}

// What is noticed as a network is prepared, such as a fixed batch that is made free: of one that is changed
// after that, and prepared anew, it is still to be said.
Graph with_notices(Graph graph, const std::vector<std::string>& notices) {
  GraphBuilder edit(graph);
  for (const std::string& notice : notices) {
    if (std::ranges::find(graph.notices(), notice) == graph.notices().end()) edit.notice(notice);
  }
  return edit.build();
}

// With the score shifted, where another threshold is requested.
Session session_at_threshold(AdaptedNetwork& network, const SessionOptions& options, const Dataset* data,
                             Progress& progress) {
  Session plain = plain_session_of(network, options, data, progress);
  if (!network.threshold) return plain;
  network.graph = with_notices(with_threshold(plain, *network.threshold, network.form), plain.notices());
  return Session(network.graph, options);
}

// Of networks that take texts: a mutant, which takes numbers, knows no words.
void require_own_words(const Graph& graph, const Dataset& data) {
  const std::string of_data = vocabulary_in(data.describe());
  if (of_data.empty()) return;
  for (const std::string& notice : graph.notices()) {
    const std::string own = vocabulary_in(notice);
    if (own.empty() || own == of_data) continue;
    fail(Fault::mismatch,
         "{}: the texts are numbers of the words of another network ({}), and network '{}' has others ({}); "
         "name it in words=",
         data.describe(), of_data, graph.name(), own);
  }
}

}  // namespace

AdaptOptions adapt_options_of(AdaptOptions options, const std::string& network) {
  if (const auto folder = folder_of_network(network)) options.folder = folder->string();
  return options;
}

AdaptedNetwork adapted(Graph graph, const AdaptOptions& options, const Dataset* data, Progress& progress) {
  FileForm form;
  if (!options.decision.empty()) {
    const std::optional<std::size_t> position =
        is_token_decision(options.decision) ? std::nullopt : output_position(graph, options.decision);
    form.decision = position.value_or(0);
    form.added = !position;
  }
  if (data != nullptr) {
    require_own_words(graph, *data);
    require_fitting_tokens(graph, options.folder, *data, progress);
    tell_numbering(options.folder, *data, progress);
  }
  tell_folder_tokens(options.folder, progress);
  graph = with_choices(std::move(graph), options, data, progress);
  if (data != nullptr && data->facts().others.empty() && graph.inputs().size() == 1 &&
      takes_channels_last(graph, graph.inputs()[0], data->record_shape())) {
    progress.notice(
        fmt::format("network '{}' takes channels last; it is transposed to take them first, as records "
                    "have them",
                    graph.name()));
    graph = with_channels_first(graph, graph.inputs()[0]);
    form.channels_last = true;
  }
  if (options.straight_through) {
    Graph passing = straight_through(graph);
    if (passing.hash() == graph.hash())
      fail(Fault::usage, "{}: network '{}' has no Sign, Round, Floor or Ceil",
           About{"to pass straight through", "{straight-through}"}, graph.name());
    graph = std::move(passing);
  }
  return {.graph = in_precision(graph, options.precision),
          .form = form,
          .views = options.views,
          .folder = options.folder,
          .threshold = options.threshold};
}

Session session_of(AdaptedNetwork& network, const SessionOptions& options, const Dataset* data,
                   Progress& progress) {
  Session plain = session_at_threshold(network, options, data, progress);
  if (network.views.empty()) return plain;
  Session session = with_unit_views(plain, network.views, network.folder);
  network.graph = session.graph();
  network.form.views = network.graph.outputs().size() - plain.graph().outputs().size();
  return session;
}

void tell_rounding(const Graph& plain, const Session& session, const AdaptOptions& options,
                   const Dataset* data, Progress& progress) {
  if (options.precision == Precision::float32 || data == nullptr || data->size() == 0) return;
  Graph graph = with_choices(plain, options, data, silence());
  if (takes_channels_last(graph, graph.inputs()[0], data->record_shape()))
    graph = with_channels_first(graph, graph.inputs()[0]);
  if (options.threshold) {
    FileForm unused;
    graph = with_threshold(Session(graph, session.options()), *options.threshold, unused);
  }
  const Session exact(std::move(graph), session.options());
  std::vector<std::size_t> indices(std::min(compared_records, data->size()));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  const Batch batch = data->read(indices);
  const auto decisions = [&](const Session& one) {
    const ValueId logits = one.logits();
    const auto rows = std::ssize(indices);
    return one.run(one.bind(batch), std::span(&logits, 1)).at(logits).reshape({rows, -1}).to(DType::float64);
  };
  const Array wanted = decisions(exact), rounded = decisions(session);
  const double most = (wanted - rounded).abs().max().item<double>(),
               scale = wanted.abs().max().item<double>();
  std::string changed;
  if (wanted.size(1) > 1) {
    const auto others = wanted.argmax(1).ne(rounded.argmax(1)).sum().item<std::int64_t>();
    changed = fmt::format("; {} of {} classifications change", others, indices.size());
  }
  progress.notice(
      fmt::format("in {}: decision values of the first {} records differ from float32 by {:.3g} "
                  "at most, where the greatest is {:.3g}{}",
                  to_string(options.precision), indices.size(), most, scale, changed));
}

}  // namespace assay::inline engine
