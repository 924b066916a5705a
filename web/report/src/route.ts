/** Where the reader is, kept in the address after '#', so that every place can be linked to. */
export type Route =
  | { readonly page: "overview" }
  | { readonly page: "document"; readonly document: number; readonly section?: string }
  | { readonly page: "layer"; readonly document: number; readonly layer: string }
  | { readonly page: "neuron"; readonly document: number; readonly layer: string; readonly neuron: string }
  | {
      readonly page: "combination";
      readonly document: number;
      readonly layer: string;
      readonly m: string;
      readonly combination: string;
    };

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Reads "#/2/layer/conv1/neuron/5". An address that names nothing leads to the overview, one with a bad tail to its document. */
export function readRoute(hash: string): Route {
  const parts = hash.replace(/^#\/?/, "").split("/").map(decoded);
  const [first = "", kind, a, b, c] = parts;
  if (!/^\d+$/.test(first) || Number(first) < 1) return { page: "overview" };
  const document = Number(first) - 1;
  if (kind === "layer" && a !== undefined && b === "neuron" && c !== undefined)
    return { page: "neuron", document, layer: a, neuron: c };
  if (kind === "layer" && a !== undefined) return { page: "layer", document, layer: a };
  if (kind === "combination" && a !== undefined && b !== undefined && c !== undefined) {
    return { page: "combination", document, layer: a, m: b, combination: c };
  }
  if (kind === "section" && a !== undefined) return { page: "document", document, section: a };
  return { page: "document", document };
}

export function address(route: Route): string {
  const join = (...parts: (string | number)[]) =>
    `#/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
  switch (route.page) {
    case "overview":
      return "#/";
    case "document":
      return route.section === undefined
        ? join(route.document + 1)
        : join(route.document + 1, "section", route.section);
    case "layer":
      return join(route.document + 1, "layer", route.layer);
    case "neuron":
      return join(route.document + 1, "layer", route.layer, "neuron", route.neuron);
    case "combination":
      return join(route.document + 1, "combination", route.layer, route.m, route.combination);
  }
}
