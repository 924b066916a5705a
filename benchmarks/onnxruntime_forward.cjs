// Forward passes of ONNX Runtime, for side_by_side.sh: onnxruntime_forward.cjs MODEL RECORDS THREADS SHAPE. SHAPE is that of a
// record, such as 1x28x28. Prints the best microseconds a record over batch sizes, and that batch size, and the version.
const ort = require('onnxruntime-node');

async function main() {
  const [model, recordsText, threadsText, shapeText] = process.argv.slice(2);
  const records = Number(recordsText), shape = shapeText.split('x').map(Number);
  const size = shape.reduce((a, b) => a * b, 1);
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: Number(threadsText), interOpNumThreads: 1, graphOptimizationLevel: 'all', executionMode: 'sequential',
  });
  let best = [Infinity, 0];
  for (const batch of [1, 16, 64, 256, 1024]) {
    if (batch > records) continue;
    const data = Float32Array.from({length: batch * size}, Math.random);
    const feeds = {[session.inputNames[0]]: new ort.Tensor('float32', data, [batch, ...shape])};
    try {
      await session.run(feeds);
    } catch (error) {
      continue;  // a batch size fixed in the file
    }
    for (let round = 0; round < 3; ++round) {
      const start = process.hrtime.bigint();
      for (let done = 0; done < records; done += batch) await session.run(feeds);
      const each = Number(process.hrtime.bigint() - start) / 1e3 / (Math.ceil(records / batch) * batch);
      if (each < best[0]) best = [each, batch];
    }
  }
  console.log(best[0].toFixed(4), best[1], require('onnxruntime-node/package.json').version);
}
main();
