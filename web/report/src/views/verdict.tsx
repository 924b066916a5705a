import type { Gate } from "../model/document";
import { number, numeric, percent, plural, show } from "../model/format";
import { label } from "../model/rows";
import { LayerLink } from "../parts/context";

function Mark({ passed }: { passed: boolean }) {
  return (
    <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
      {passed ? <path d="M3 8.5 6.5 12 13 4.5" /> : <path d="M4 4l8 8M12 4l-8 8" />}
    </svg>
  );
}

function Measured({ gate }: { gate: Gate }) {
  const measured = numeric(gate.value);
  const threshold = numeric(gate.threshold);
  const isShare = label(gate.covered) !== "" && label(gate.coverable) !== "";
  const figure = (value: number) => (isShare ? percent(value, 3) : number(value));
  return (
    <span class="gate-figures">
      <b>{measured === undefined ? show(gate.value) : figure(measured)}</b>
      {threshold !== undefined && (
        <span class="quiet">
          {" "}
          needs {gate.relation === "<=" ? "at most " : ""}
          {figure(threshold)}
        </span>
      )}
      {isShare && (
        <span class="quiet">
          {" "}
          ({show(gate.covered, "count")} of {show(gate.coverable, "count")})
        </span>
      )}
    </span>
  );
}

function GateLine({ gate }: { gate: Gate }) {
  const where = [
    gate.layer !== "" && gate.layer !== "all" && (
      <span key="layer">
        layer <LayerLink layer={gate.layer} />
      </span>
    ),
    gate.class !== "" && <span key="class">class {gate.class}</span>,
    gate.context !== "" && <span key="context">context {gate.context}</span>,
  ].filter(Boolean);
  return (
    <li class={gate.passed ? "gate gate-passed" : "gate gate-failed"}>
      <Mark passed={gate.passed} />
      <span class="gate-word">{gate.passed ? "Passed" : "Failed"}</span>
      <span class="gate-text">
        <code>{gate.text || gate.criterion}</code>
        {where.length > 0 && <span class="gate-where quiet">{where}</span>}
        {gate.reason !== "" && <span class="gate-reason">{gate.reason}</span>}
      </span>
      <Measured gate={gate} />
    </li>
  );
}

/** The verdict: failed gates first and open, passed gates below them. */
export function Verdict({ gates }: { gates: readonly Gate[] }) {
  if (gates.length === 0) return null;
  const failed = gates.filter(({ passed }) => !passed);
  const passed = gates.filter((gate) => gate.passed);
  const good = failed.length === 0;
  return (
    <section
      class={good ? "verdict verdict-passed" : "verdict verdict-failed"}
      aria-labelledby="verdict-title"
      id="gates"
    >
      <h2 id="verdict-title" tabIndex={-1}>
        <Mark passed={good} />
        <span>
          {good
            ? `Passed: ${gates.length === 1 ? "the gate holds" : `all ${gates.length} gates hold`}`
            : `Failed: ${failed.length} of ${plural(gates.length, "gate")} ${failed.length === 1 ? "does" : "do"} not hold`}
        </span>
      </h2>
      {failed.length > 0 && (
        <ul class="gates">
          {failed.map((gate, i) => (
            <GateLine key={i} gate={gate} />
          ))}
        </ul>
      )}
      {passed.length > 0 && (
        <details open={good && passed.length <= 4}>
          <summary>{plural(passed.length, "gate")} passed</summary>
          <ul class="gates">
            {passed.map((gate, i) => (
              <GateLine key={i} gate={gate} />
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
