# What side_by_side.sh printed, as one table: what each work took, as a share of what it is measured against, beside what
# is wished for. The work of a line is told by the section that it stands in and by its beginning.
function row(work, measured, wished, of) {
  printf "| %-52s | %8.3f | %s | %s |\n", work, measured, wished, of
}
# The number behind `word` in the line.
function after(word,   rest) {
  rest = substr($0, index($0, word) + length(word))
  return rest + 0
}
BEGIN {
  forward["lenet1"] = forward["lenet4"] = forward["lenet5"] = forward["ACAS-like"] = 0.5
  forward["ResNet"] = forward["deepmutation-c"] = forward["dave2"] = 0.8
  forward["VGG-like"] = forward["ResNet-18"] = 1
  attack["fgsm"] = 0.125; attack["bim"] = 0.1; attack["pgd"] = 0.1; attack["cw"] = 0.04; attack["jsma"] = 0.005
  training["lenet5"] = 0.5; training["deepmutation-c"] = 0.8
  print "| work | measured | wished | of |"
  print "|---|---|---|---|"
}
/^== / { section = $2 == "the" ? "one" : $2; next }
section == "start" && /processor/ { row("start, " $1, $2, "at most 0.15", "seconds of processor time") }
(section == "forward" || section == "one") && / forward +[0-9.]+ us/ {
  us[section, $1] = after(" forward ")
  if (section == "one") {
    if (us["forward", $1] > 0) row($1 ", two threads", us["one", $1] / us["forward", $1], "at least 1.8", "times one")
    next
  }
  wish = $1 in forward ? "at most " forward[$1] : "-"
  if (index($0, "forward/peer")) row("forward, " $1, after("forward/peer"), wish, "ONNX Runtime's time")
  row("forward and gradient, " $1, after("gradient/forward"), "at most 3", "a forward pass")
}
section == "networks" && /ONNX Runtime/ && $1 != "network" {
  row("forward, " $1 ", " $5 " % of the peak", $4, $1 == "mlp" || $1 == "lstm" ? "at most 0.5" : "at most 0.9", "ONNX Runtime's time")
  if ($7 != "-") row("memory of evaluate, " $1, $7 / $8, "-", "ONNX Runtime's peak")
}
section == "relevance:" && / epsilon / {
  row("relevance, " $1 ", batches of " after("batches of "), after("ratio"), "at most 3", "a forward pass")
}
section == "eleven" && / records, / { network = $1; sub(/,.*/, "", network) }
section == "eleven" && /all criteria/ { row("eleven criteria, " network, after("ratio"), "at most 1.5", "a forward pass") }
section == "attacks:" && /of its time/ {
  name = $1; sub(/\[.*/, "", name)
  split($0, parts, ": ")
  if (name in attack) row("attack, " name, parts[2] + 0, "at most " attack[name], "PyTorch's time")
}
section == "training:" && /PyTorch's seconds/ {
  split($0, parts, "; "); wish = $1 in training ? "at most " training[$1] : "-"
  row("training, " $1 ", batches of " $3 + 0, parts[2] + 0, wish, "PyTorch's time")
}
section == "mutation:" && /records:/ { network = $1; sub(/,$/, "", network) }
section == "mutation:" && /in PyTorch/ { row("mutants, " network, $1, "at least 30", "times whole networks in PyTorch") }
section == "exploration:" && /many seeds/ { row("exploration", after(" s ") + 0, "at least 500", "findings a second") }
