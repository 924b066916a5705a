#include <assay/unit_views.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <assay/error.h>
#include <assay/tokenizer.h>
#include "assay/engine/layers/attention.h"
#include "assay/engine/layers/unit_views.h"
#include "assay/engine/preparation/directions.h"
#include "assay/engine/preparation/lens.h"
#include "assay/engine/preparation/view_words.h"
#include "assay/model/real_tokens.h"

namespace assay::inline engine {
namespace {

constexpr float least_share = 1e-6F;  // of a mean, up to which a deviation is rounding

// The attention that the layer is, whose weights it is, or whose heads it reads joined.
std::optional<Attention> attention_of(const Graph& graph, const Layer& layer) {
  const Node& node = graph.node(layer.node);
  if (const auto own = attention_of(graph, node.outputs[0])) return own;
  for (const ValueId input : node.inputs)
    if (input != no_value)
      if (const auto read = attention_of(graph, input)) return read;
  for (const NodeId reader : graph.consumers(layer.value)) {
    const auto next = attention_of(graph, graph.node(reader).outputs[0]);
    if (next && next->softmax == maker_of(graph, layer.value)) return next;
  }
  return std::nullopt;
}

// One view, as nodes.
class ViewEdit {
 public:
  ViewEdit(const Session& session, GraphBuilder& edit, const ViewWords& view, const Layer& layer,
           const std::string& name, std::int64_t padding)
      : session_(session),
        graph_(session.graph()),
        view_(view),
        layer_(layer),
        name_(name),
        padding_(padding),
        edit_(edit),
        nodes_(edit, view_prefix(name)) {}

  void add() {
    ValueId units = !view_.heads.empty() || !view_.attention.empty() ? heads()
                    : !view_.lens.empty()                            ? through_lens()
                                                                     : neurons();
    if (!view_.directions.empty()) units = projected(units);
    if (!view_.tokens.empty()) units = over_tokens(units);
    const ValueId output = edit_.add("Identity", view_value(name_), {units});
    Shape shape(positions_ > 0 && view_.tokens.empty() ? 3 : 2, -1);
    shape.back() = units_;
    edit_.set_type(output, DType::float32, std::move(shape));
    edit_.output(output);
  }

 private:
  ValueId source(ValueId value, ViewSource of) {
    return edit_.add("Identity", view_source(name_, of), {value});
  }

  // [records, neurons] or [records, positions, neurons].
  ValueId neurons() {
    const Shape& shape = session_.shape(layer_.value);
    const bool last_axis =
        layer_.neuron_axes.size() == 1 && layer_.neuron_axes[0] == static_cast<int>(shape.size()) - 1;
    const bool rows = shape.size() == 2, by_position = shape.size() == 3 && layer_.batch_multiple == 1;
    if (layer_.batch_axis != 0 || !last_axis || (!rows && !by_position))
      fail(Fault::usage,
           "view '{}': layer '{}' gives {} for a record; views are of [neurons] or [positions, neurons]{}",
           view_.text, layer_.name, to_string(layer_.shape),
           attention_of(graph_, layer_) ? ", or of attention: heads= and attention=" : "");
    units_ = shape.back();
    if (by_position) positions_ = shape[1];
    const ValueId value =
        source(layer_.value, view_.directions.empty() ? ViewSource::neurons : ViewSource::mixed);
    return layer_.batch_multiple == 1 ? value : apart(value);
  }

  // Positions that are rows of one matrix, by record.
  ValueId apart(ValueId rows) {
    positions_ = layer_.batch_multiple;
    if (!are_tokens(positions_))
      return nodes_.add("Reshape", "by_record",
                        {rows, nodes_.whole("by_record/shape", {-1, positions_, units_})});
    const ValueId sizes = nodes_.add("Shape", "sizes", {tokens_input(graph_)});
    const ValueId shape = nodes_.add("Concat", "by_record/shape", {sizes, nodes_.whole("width", {units_})},
                                     {{"axis", std::int64_t{0}}});
    return nodes_.add("Reshape", "by_record", {rows, shape});
  }

  // [records, positions, heads]: a number for each head at a position.
  ValueId heads() {
    const auto attention = attention_of(graph_, layer_);
    if (!attention)
      fail(Fault::usage,
           "view '{}': layer '{}' is not attention (a softmax and its product with values) and reads none",
           view_.text, layer_.name);
    const bool of_weights = !view_.attention.empty();
    const ValueId value =
        of_weights ? weights_value(session_, *attention) : heads_value(session_, *attention);
    require_heads(*attention, value);
    const Shape& shape = session_.shape(value);
    units_ = shape[1];
    positions_ = shape[2];
    const ValueId numbers = source(value, ViewSource::heads);
    if (of_weights) leave_out_padding(attention->product->inputs[1], shape[3]);
    const ValueId found = statistic_of(of_weights ? view_.attention : view_.heads, numbers);
    const ValueId transposed =
        nodes_.add("Transpose", "by_position", {found}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    return nodes_.add("Squeeze", "heads", {transposed, nodes_.whole("heads/axis", {3})});
  }

  void require_heads(const Attention& attention, ValueId value) const {
    if (!weighs_last_axis(session_, attention))
      fail(Fault::usage,
           "view '{}': layer '{}' is not an attention over tokens: its softmax is along axis {} of {}, not "
           "the last",
           view_.text, layer_.name, attention.softmax->integer("axis", -1),
           session_.shape(attention.softmax->outputs[0]).size());
    if (value != no_value) return;
    const ValueId given =
        view_.attention.empty() ? attention.product->outputs[0] : attention.product->inputs[0];
    const Shape& shape = session_.shape(given);
    const std::int64_t rows = session_.record_axis(given).rows;
    fail(Fault::usage,
         "view '{}': layer '{}': its attention is {}{}; views of heads are of [records, heads, "
         "positions, ...]",
         view_.text, layer_.name, to_string(shape),
         rows > 1
             ? fmt::format(", with {} rows of each record merged into its first axis, {}", rows,
                           !view_.attention.empty() && heads_value(session_, attention) != no_value
                               ? "and its weights never have an axis of heads; heads= reads what they give"
                               : "which nothing takes apart")
             : "");
  }

  // Weights of what only fills up do not count.
  void leave_out_padding(ValueId values, std::int64_t keys) {
    const ValueId real = real_tokens(values, keys);
    if (real == no_value) return;
    counted_ = nodes_.add("Unsqueeze", "keys", {real, nodes_.whole("keys/axes", {1, 2})});
    count_ = nodes_.reduced("ReduceSum", "keys/count", counted_, -1, true);
  }

  // Over the last axis, which is kept.
  ValueId statistic_of(const std::string& statistic, ValueId numbers) {
    if (statistic == "norm") return nodes_.reduced("ReduceL2", "norm", numbers, -1, true);
    const ValueId mean = averaged("mean", numbers);
    if (statistic == "mean") return mean;
    const ValueId apart = nodes_.add("Sub", "apart", {numbers, mean});
    const ValueId squares = nodes_.add("Mul", "squares", {apart, apart});
    const ValueId variance = averaged("variance", squares);
    if (statistic == "variance") return variance;
    // Of what is as wide as 1, whatever the scale. What is the same has no skewness and no kurtosis: where
    // numbers differ by no more than rounding, the moment does not count.
    const ValueId wide = differs(mean, variance);
    const ValueId width =
        nodes_.add("Sqrt", "width", {nodes_.add("Where", "safe", {wide, variance, nodes_.real("one", 1)})});
    const ValueId z = nodes_.add("Div", "z", {apart, width});
    const ValueId square = nodes_.add("Mul", "z/square", {z, z});
    const ValueId moment =
        averaged("moment", nodes_.add("Mul", "z/power", {square, statistic == "skewness" ? z : square}));
    return nodes_.add("Mul", statistic, {moment, nodes_.as_float(wide, "differs")});
  }

  ValueId differs(ValueId mean, ValueId variance) {
    const ValueId rounding =
        nodes_.add("Mul", "rounding", {mean, nodes_.real("rounding/share", least_share)});
    const ValueId least = nodes_.add("Mul", "rounding/square", {rounding, rounding});
    return nodes_.add("Greater", "is_wider", {variance, least});
  }

  ValueId averaged(const std::string& role, ValueId numbers) {
    if (counted_ == no_value) return nodes_.reduced("ReduceMean", role, numbers, -1, true);
    const ValueId sum = nodes_.reduced("ReduceSum", role + "/sum",
                                       nodes_.add("Mul", role + "/counted", {numbers, counted_}), -1, true);
    return nodes_.add("Div", role, {sum, count_});
  }

  // [records, answers] or [records, positions, answers]: the decision of this depth.
  ValueId through_lens() {
    const Layer& late = session_.layer(view_.lens);
    if (layer_.shape != late.shape)
      fail(Fault::usage, "view '{}': layer '{}' gives {} for a record and layer '{}', the lens, takes {}",
           view_.text, layer_.name, to_string(layer_.shape), late.name, to_string(late.shape));
    const Shape& shape = session_.shape(session_.logits());
    if (session_.record_axis(session_.logits()).axis != 0 || shape.size() < 2 || shape.size() > 3)
      fail(Fault::usage,
           "view '{}': the decision is {}, and a lens shows [records, answers] or [records, positions, "
           "answers]",
           view_.text, to_string(shape));
    units_ = shape.back();
    if (shape.size() == 3) positions_ = shape[1];
    return decision_from(session_, nodes_, source(layer_.value, ViewSource::mixed), late);
  }

  // [neurons, directions]. A dense layer of PyTorch holds the decoder of an autoencoder like this.
  Array directions_in_columns() {
    const Array directions = read_directions(view_.directions);
    if (directions.size(1) == units_) return directions.t().contiguous();
    if (directions.size(0) != units_)
      fail(Fault::mismatch,
           "directions '{}' are {}, and layer '{}' has {} neurons, which neither rows nor columns have; name "
           "the layer that they are directions of",
           view_.directions, to_string(directions.shape()), layer_.name, units_);
    return directions;
  }

  ValueId projected(ValueId units) {
    const Array directions = directions_in_columns();
    units_ = directions.size(1);
    return nodes_.add("MatMul", "projections",
                      {units, edit_.constant(nodes_.name("directions"), directions)});
  }

  // [records, units].
  ValueId over_tokens(ValueId units) {
    if (positions_ == 0 && !view_.lens.empty())
      fail(Fault::usage,
           "view '{}': the decision, which a lens shows, has no positions for tokens={}; leave it out",
           view_.text, view_.tokens);
    if (positions_ == 0)
      fail(Fault::usage, "view '{}': layer '{}' has no positions for tokens={}; it gives {} for a record",
           view_.text, layer_.name, view_.tokens, to_string(layer_.shape));
    const std::string& tokens = view_.tokens;
    if (tokens == "any" || tokens == "share")
      units = nodes_.as_float(
          nodes_.add("Greater", "above", {units, nodes_.real("threshold", view_.threshold)}), "active");
    const ValueId real = real_tokens(layer_.value, positions_);
    if (real == no_value) return over_all(units);
    if (tokens == "first" || tokens == "last")
      return at_greatest(units, tokens == "last" ? counted_tokens(nodes_, real) : real);
    const ValueId here = nodes_.add("Unsqueeze", "here", {real, nodes_.whole("here/axis", {2})});
    const ValueId is_here = nodes_.as_truth(here, "is_here");
    const auto present = [&](float absent) {
      return nodes_.add("Where", "present", {is_here, units, nodes_.real("absent", absent)});
    };
    if (tokens == "mean" || tokens == "share")
      return nodes_.add("Div", "average",
                        {nodes_.reduced("ReduceSum", "sum", present(0), 1, false),
                         nodes_.reduced("ReduceSum", "count", here, 1, false)});
    const float least = tokens == "any" ? 0 : -std::numeric_limits<float>::infinity();
    return nodes_.reduced("ReduceMax", "most", present(least), 1, false);
  }

  // Where all positions count, as those of patches of a picture.
  ValueId over_all(ValueId units) {
    if (view_.tokens == "mean" || view_.tokens == "share")
      return nodes_.reduced("ReduceMean", "average", units, 1, false);
    if (view_.tokens == "max" || view_.tokens == "any")
      return nodes_.reduced("ReduceMax", "most", units, 1, false);
    const std::vector<std::int64_t> index{view_.tokens == "last" ? -1 : 0};
    return nodes_.add("Gather", at_token(),
                      {units, edit_.constant(nodes_.name("position"), Array::of<std::int64_t>({}, index))},
                      {{"axis", std::int64_t{1}}});
  }

  // `order` [records, positions]: greatest at the wanted position, the first among equals.
  ValueId at_greatest(ValueId units, ValueId order) {
    const ValueId where =
        nodes_.add("ArgMax", "token", {order}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{1}}});
    return nodes_.add("GatherND", at_token(), {units, where}, {{"batch_dims", std::int64_t{1}}});
  }

  // By which viewed_position() knows it.
  std::string at_token() const { return "at_" + view_.tokens; }

  // Whether so many positions are those of the tokens of a record.
  bool are_tokens(std::int64_t positions) const {
    const ValueId ids = tokens_input(graph_);
    if (ids == no_value) return false;
    const Shape& shape = session_.shape(ids);
    return shape.size() == 2 && shape[1] == positions;
  }

  // Those of the positions of a value; no_value where all count or it is not known. What a decoder makes has
  // tokens of its own.
  ValueId real_tokens(ValueId value, std::int64_t positions) {
    const ValueId own = input_called("decoder_input_ids");
    const bool decodes =
        own != no_value && computed_from_any(graph_, std::span(&own, 1), no_value)[index_of(value)];
    const ValueId mask = input_called(decodes ? "decoder_attention_mask" : "attention_mask");
    const ValueId told = mask != no_value || decodes ? mask : tokens_input(graph_);
    if (told == no_value || session_.shape(told).size() != 2) return no_value;
    const std::int64_t known = session_.shape(told)[1];
    const bool begins_earlier = !decodes && known > positions && are_tokens(positions);
    if (known != positions && !begins_earlier) return no_value;
    std::optional<ValueId>& real = decodes ? decoded_ : real_;
    if (!real) {
      real = decodes ? nodes_.as_float(mask, "decoded") : assay::real_tokens(graph_, nodes_, padding_);
      if (begins_earlier) real = of_last_tokens(*real);
    }
    return *real;
  }

  // A mask that begins with tokens of a past ends with those of the record.
  ValueId of_last_tokens(ValueId mask) {
    const ValueId count = nodes_.add("Shape", "token_count", {tokens_input(graph_)},
                                     {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
    return nodes_.add("Slice", "mask_of_tokens",
                      {mask, nodes_.add("Neg", "tokens_begin", {count}),
                       nodes_.whole("tokens_end", {std::numeric_limits<std::int64_t>::max()}),
                       nodes_.whole("tokens_axis", {1})});
  }

  ValueId input_called(const char* name) const {
    const auto found = graph_.find_value(name);
    const bool is_input = found && std::ranges::find(graph_.inputs(), *found) != graph_.inputs().end();
    return is_input ? *found : no_value;
  }

  const Session& session_;
  const Graph& graph_;
  const ViewWords& view_;
  const Layer& layer_;
  const std::string& name_;
  std::int64_t padding_;
  GraphBuilder& edit_;
  NamedNodes nodes_;
  std::int64_t units_ = 0, positions_ = 0;  // of a record; no positions: 0
  std::optional<ValueId> real_, decoded_;
  ValueId counted_ = no_value, count_ = no_value;  // weights that count, of each record, and how many
};

std::string name_of(const ViewWords& view, const Layer& layer) {
  if (!view.name.empty()) return view.name;
  std::string name = layer.name;
  if (!view.heads.empty()) name += "/heads/" + view.heads;
  if (!view.attention.empty()) name += "/attention/" + view.attention;
  if (!view.directions.empty()) name += "/directions";
  if (!view.lens.empty()) name += "/lens";
  if (!view.tokens.empty()) name += "/" + view.tokens;
  return view.threshold == 0 ? name : name + fmt::format(">{:g}", view.threshold);
}

std::vector<Layer> layers_of(const ViewWords& view, const Session& session) {
  if (!view.layer.empty()) return {session.layer(view.layer)};
  return view.lens.empty() ? layers_of_attention(session) : stream_before(session, session.layer(view.lens));
}

// No token is called -1.
std::int64_t padding_in(const std::string& folder) {
  std::error_code code;
  const std::filesystem::path path(folder);
  if (folder.empty() || !std::filesystem::exists(path / "tokenizer.json", code)) return -1;
  return text::Tokenizer(path).padding().value_or(-1);
}

// A view is a layer wherever records are told apart.
void require_records_first(const Session& session) {
  const std::vector<Layer> layers = unit_view_layers(session);
  for (const ValueId view : unit_views(session.graph())) {
    if (std::ranges::find(layers, view, &Layer::value) != layers.end()) continue;
    fail(Fault::unsupported,
         "view '{}': network '{}' does not hold its records along the first axis there, so its units are not "
         "known by record",
         unit_view_name(session.graph(), view), session.graph().name());
  }
}

}  // namespace

Session with_unit_views(const Session& session, std::span<const std::string> texts,
                        const std::string& folder) {
  std::set<std::string> taken;
  for (const Layer& layer : session.layers()) taken.insert(layer.name);
  const std::int64_t padding = padding_in(folder);
  GraphBuilder edit(session.graph());
  for (const std::string& text : texts) {
    const ViewWords view = parse_view(text);
    const std::vector<Layer> layers = layers_of(view, session);
    if (layers.empty())
      fail(Fault::usage,
           "view '{}': network '{}' has no attention (a softmax and its product with values) with heads",
           text, session.graph().name());
    for (const Layer& layer : layers) {
      const std::string name = name_of(view, layer);
      if (!taken.insert(name).second || session.graph().find_value(view_value(name)))
        fail(Fault::usage, "view '{}': a layer is called '{}' already; give another name=", text, name);
      ViewEdit(session, edit, view, layer, name, padding).add();
    }
  }
  Session with_views(edit.build(), session.options());
  require_records_first(with_views);
  return with_views;
}

}  // namespace assay::inline engine
