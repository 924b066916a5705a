import { address } from "../route";
import { usePlace } from "./context";

export interface Crumb {
  readonly title: string;
  readonly section?: string;
  readonly layer?: string;
}

/** The way back from a page inside a document. */
export function Crumbs({ trail, here }: { trail: readonly Crumb[]; here: string }) {
  const { document, index } = usePlace();
  const to = ({ section, layer }: Crumb) => {
    if (layer !== undefined) return address({ page: "layer", document: index, layer });
    return address(
      section === undefined
        ? { page: "document", document: index }
        : { page: "document", document: index, section },
    );
  };
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      <ol>
        {[{ title: document.command || "Document" }, ...trail].map((crumb) => (
          <li key={crumb.title}>
            <a href={to(crumb)}>{crumb.title}</a>
          </li>
        ))}
        <li aria-current="page">{here}</li>
      </ol>
    </nav>
  );
}
