import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Cell, Document } from "../model/document";
import { label, rowsWhere } from "../model/rows";
import { address } from "../route";

export interface Place {
  readonly document: Document;
  readonly index: number;
}

const Current = createContext<Place | undefined>(undefined);
export const PlaceProvider = Current.Provider;

/** The document around a component and its number in the page. */
export function usePlace(): Place {
  const place = useContext(Current);
  if (place === undefined) throw new Error("a view is outside of a document");
  return place;
}

/** True where something is known of the layer beyond its name. */
export function knowsLayer(document: Document, layer: string): boolean {
  const of = (id: string) => rowsWhere(document.tables.get(id), "layer", layer).length > 0;
  return layer !== "" && layer !== "all" && (of("layers") || of("neurons") || of("clusters"));
}

export function knowsNeuron(document: Document, layer: string, neuron: string): boolean {
  const among = (id: string) =>
    rowsWhere(document.tables.get(id), "layer", layer).some((row) => label(row.neuron) === neuron);
  return among("neurons") || among("clusters") || among("histograms");
}

export function LayerLink({ layer }: { layer: Cell | undefined }) {
  const { document, index } = usePlace();
  const name = label(layer);
  if (!knowsLayer(document, name)) return <>{name}</>;
  return (
    <a class="name" href={address({ page: "layer", document: index, layer: name })}>
      {name}
    </a>
  );
}
