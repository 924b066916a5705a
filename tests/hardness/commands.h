#pragma once

// One small run of every command, for suites that walk over all of them. A command that keeps a journal and
// is not here fails KillSuite.KnowsEveryCommandThatGoesOn.

#include <string>
#include <vector>

namespace assay {

struct CommandRun {
  std::string name, arguments;
  std::vector<std::string> prepare;  // commands whose results it reads
  std::vector<std::string> files;    // results, the same bytes every time
  std::vector<std::string> tables;   // result documents, which find the same every time
  bool slow = false;                 // only in the whole suite
  std::string variant = {};          // tells runs of one command apart
  int again = 0;                     // exit code of a second run, when the first has ended
};

// `records`: the data set of all runs, without quotes and slices.
inline std::vector<CommandRun> command_runs(const std::string& records = "images-idx3-ubyte") {
  const auto part = [&](const std::string& slice) { return "'" + records + slice + "'"; };
  const std::string data = part(""),
                    cover = "--model net.onnx --train " + data + " --test " + data +
                            " -m 2 --criterion kmnc --criterion idc --criterion nlc ",
                    study = "--model net.onnx --train " + part("[::3]") + " --test " + part("[1::3]");
  return {
      {"model", "net.onnx --write copy.onnx --json r.json", {}, {"copy.onnx"}, {"r.json"}},
      {"data",
       data + " --write copy.npz --json r.json --csv tables",
       {},
       {"copy.npz", "tables/facts.csv"},
       {"r.json"}},
      {"evaluate", "--model net.onnx --data " + data + " --json r.json", {}, {}, {"r.json"}},
      {"importance",
       "--model net.onnx --data " + data + " --heatmaps 1 --out pictures --json r.json",
       {},
       {},
       {"r.json"}},
      {"robust",
       "net.onnx " + data +
           " --batch 16 --along 'noise[sigma=0:0.6:0.2]' --along 'pgd[eps=0.1/0.3,steps=3]' --journal "
           "r.journal "
           "--json r.json",
       {},
       {},
       {"r.json"}},
      {"train",
       "--model net.onnx --data " + data + " --epochs 3 --checkpoint epochs.npz --out trained.onnx",
       {},
       {"trained.onnx"},
       {}},
      {"cover",
       cover + "--batch 16 --journal-every 0 --profile p.profile --state s.cov --json r.json",
       {},
       {"p.profile", "s.cov"},
       {"r.json"}},
      {"mutate",
       "--model net.onnx --test " + data +
           " --operator gf --operator ws --count 3 --state s.mut --matrix m.csv --json r.json",
       {},
       {"s.mut", "m.csv"},
       {"r.json"}},
      {"mutate",
       "--train " + part("[:80]") + " --test " + part("[80:]") +
           " --model net.onnx --operator 'le[ratio=0.5]' --operator 'epochs[to=1]' --count 1 "
           "--optimiser adam --epochs 2 --train-batch 20 --store kept --state s.mut --matrix m.csv --json "
           "r.json",
       {},
       {"s.mut", "m.csv"},
       {"r.json"},
       false,
       "_source"},
      {"inspect",
       "--model net.onnx --data " + data +
           " --hypotheses label --no-early-stop --journal-every 0 --block 16 --state s.inspect --scores "
           "s.csv "
           "--json r.json",
       {},
       {"s.inspect", "s.csv"},
       {"r.json"}},
      {"prune",
       "--model net.onnx --units layer=0,units=0 --test " + data + " --out pruned.onnx --json r.json",
       {},
       {"pruned.onnx"},
       {"r.json"}},
      {"combine",
       "a.cov b.cov --out all.cov --json r.json",
       {"cover " + cover + "--shard 1/2 --state a.cov", "cover " + cover + "--shard 2/2 --state b.cov"},
       {"all.cov"},
       {"r.json"}},
      {"diff",
       "a.cov b.cov --json r.json",
       {"cover " + cover + "--shard 1/2 --state a.cov", "cover " + cover + "--state b.cov"},
       {},
       {"r.json"}},
      {"select",
       "--model net.onnx --test " + data +
           " --by entropy --size 9 --out ids.txt --write chosen.npz --json r.json",
       {},
       {"ids.txt", "chosen.npz"},
       {"r.json"}},
      {"attack",
       "net.onnx " + data + " --batch 16 --attack fgsm --attack noise --out attacked",
       {},
       {"attacked/fgsm.npz", "attacked/noise.npz"},
       {}},
      {"explore",
       "net.onnx --mutant 'gf[sigma=0.5]' --mutant ws --data " + part("[:40]") +
           " --constraint none --step 0.3 --round 16 --pictures 2 --out found",
       {},
       {"found/findings.npz", "found/voted.npz"},
       {}},
      {"retrain",
       "net.onnx --train " + part("[:120]") + " --test " + part("[120:]") + " --add " + part("[:60]") +
           " --count 10 --repeats 2 --epochs 1 --against noise --checkpoint runs --out-dir made --json "
           "r.json",
       {},
       {"assay-retrain/training-noise.npz", "made/given.onnx"},
       {"r.json"}},
      {"audit",
       study + " --criterion nc --count 2 --sizes 10,20 --subsets 10 --permutations 19 --resamples 20 "
               "--orders 19 "
               "--json r.json",
       {},
       {},
       {"r.json"}},
      {"polluted",
       "--data " + data + " --findings " + part("[:20]") +
           " --window-size 3 --pictures 2 --out-dir shown --out suspects.csv --json r.json",
       {},
       {"suspects.csv"},
       {"r.json"}},
      {"evidence",
       "--title Study " + study + " --document-id EP-1 --out pack --zip pack.zip --json r.json",
       {},
       {"pack/traceability/records.csv"},
       {"r.json", "pack/results/cover.json"},
       false,
       {},
       1},
      {"verify",
       "pack --rerun evaluate --json r.json",
       {"evidence " + study + " --document-id EP-1 --out pack"},
       {},
       {"r.json"}},
      {"report",
       "r1.json --out page.html --json r.json",
       {"evaluate --model net.onnx --data " + data + " --json r1.json"},
       {},
       {"r.json"}},
      {"criteria", "--json r.json", {}, {}, {"r.json"}},
      {"demo",
       "--records 500 --epochs 1 --out shown",
       {},
       {"shown/lenet5.onnx", "shown/demo.profile"},
       {},
       true},
  };
}

}  // namespace assay
