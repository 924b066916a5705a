import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { STEPS, step } from "../model/scale";
import { theme, useTheme } from "../theme";

export interface GridItem {
  readonly name: string;
  /** Share in [0, 1] that gives the colour; undefined is not applicable. */
  readonly share: number | undefined;
  /** What is read out: "neuron 5, KMNC 40.00 %". */
  readonly text: string;
}

interface Layout {
  readonly columns: number;
  readonly rows: number;
  readonly size: number;
}

const LARGEST = 28;
const SMALLEST = 5;
const TALLEST = 420;

/** Square cells, as large as fit; beyond the smallest size the grid grows downwards. */
export function layout(count: number, width: number): Layout {
  for (let size = LARGEST; size > SMALLEST; size--) {
    const columns = Math.max(1, Math.floor(width / size));
    const rows = Math.ceil(count / columns);
    if (rows * size <= TALLEST) return { columns, rows, size };
  }
  const columns = Math.max(1, Math.floor(width / SMALLEST));
  return { columns, rows: Math.ceil(count / columns), size: SMALLEST };
}

function paint(
  canvas: HTMLCanvasElement,
  items: readonly GridItem[],
  { columns, rows, size }: Layout,
  at: number,
): void {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = columns * size * ratio;
  canvas.height = rows * size * ratio;
  const context = canvas.getContext("2d");
  if (context === null) return;
  const style = getComputedStyle(canvas);
  const colours = Array.from({ length: STEPS }, (_, i) => style.getPropertyValue(`--h${i}`));
  const line = style.getPropertyValue("--line");
  const gap = size > 12 ? 2 : size > 6 ? 1 : 0.5;
  context.scale(ratio, ratio);
  items.forEach(({ share }, i) => {
    const [x, y] = [(i % columns) * size, Math.floor(i / columns) * size];
    if (share === undefined) {
      context.strokeStyle = line;
      context.strokeRect(x + 0.5, y + 0.5, size - gap - 1, size - gap - 1);
    } else {
      context.fillStyle = colours[step(share)] ?? "";
      context.fillRect(x, y, size - gap, size - gap);
    }
  });
  if (at >= 0) {
    context.strokeStyle = style.getPropertyValue("--ink");
    context.lineWidth = 2;
    context.strokeRect((at % columns) * size, Math.floor(at / columns) * size, size - gap, size - gap);
  }
}

const MOVES: Record<string, (columns: number, count: number) => number> = {
  ArrowRight: () => 1,
  ArrowLeft: () => -1,
  ArrowDown: (columns) => columns,
  ArrowUp: (columns) => -columns,
  PageDown: (columns) => columns * 10,
  PageUp: (columns) => -columns * 10,
  Home: (_, count) => -count,
  End: (_, count) => count,
};

/** Thousands of neurons at a glance, on a canvas. By keyboard it is a slider over the neurons; Enter opens one. */
export function NeuronGrid({
  name,
  items,
  onOpen,
}: {
  name: string;
  items: readonly GridItem[];
  onOpen: (index: number) => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [at, setAt] = useState(-1);
  const colours = useTheme();
  const shape = useMemo(() => layout(items.length, Math.max(1, width)), [items.length, width]);
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const draw = () => canvas.current !== null && width > 0 && paint(canvas.current, items, shape, at);
    draw();
    const print = window.matchMedia("print");
    print.addEventListener("change", draw);
    return () => print.removeEventListener("change", draw);
  }, [items, shape, at, width, colours]);

  const under = (event: MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined) return -1;
    const column = Math.floor((event.clientX - box.left) / shape.size);
    const index = Math.floor((event.clientY - box.top) / shape.size) * shape.columns + column;
    return column >= 0 && column < shape.columns && index >= 0 && index < items.length ? index : -1;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && at >= 0) {
      onOpen(at);
      return;
    }
    const move = MOVES[event.key];
    if (move === undefined) return;
    event.preventDefault();
    setAt(Math.min(items.length - 1, Math.max(0, at < 0 ? 0 : at + move(shape.columns, items.length))));
  };
  return (
    <div class="grid" ref={host}>
      <canvas
        ref={canvas}
        style={{ width: `${shape.columns * shape.size}px`, height: `${shape.rows * shape.size}px` }}
        data-theme-drawn={theme()}
        role="slider"
        tabIndex={0}
        aria-label={`${name}. Arrow keys move, Enter opens.`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, items.length - 1)}
        aria-valuenow={Math.max(0, at)}
        aria-valuetext={items[at]?.text ?? "none chosen"}
        onMouseMove={(event) => setAt(under(event))}
        onMouseLeave={() => setAt(-1)}
        onClick={(event) => under(event) >= 0 && onOpen(under(event))}
        onKeyDown={onKey}
      />
      <p class="grid-readout quiet" aria-hidden="true">
        {items[at]?.text ?? "Point at a cell to read it; click it, or press Enter, to open it."}
      </p>
    </div>
  );
}
