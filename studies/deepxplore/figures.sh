# Figures out of result documents, for the scripts beside it.

# A number among the facts.
fact() { grep -o "\"$2\": *[-0-9.e+]*" "$1" | head -1 | sed 's/.*: *//'; }  # result, fact

# A number of the row of all layers, in the first table that has it.
whole() {  # result, field
  awk -v field="\"$2\"" 'BEGIN { RS = "{" } /"layer": *"all"/ && match($0, field ": *[0-9.e+-]+") { text = substr($0, RSTART, RLENGTH); sub(/.*: */, "", text); print text; exit }' "$1"
}
