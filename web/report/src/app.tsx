import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Document } from "./model/document";
import { PlaceProvider } from "./parts/context";
import { address, type Route, readRoute } from "./route";
import { toggleTheme, useTheme } from "./theme";
import { CombinationPage } from "./views/combination";
import { contents, DocumentPage } from "./views/document";
import { LayerPage } from "./views/layer";
import { NeuronPage } from "./views/neuron";
import { Overview } from "./views/overview";

function useRoute(): Route {
  const [route, set] = useState(() => readRoute(location.hash));
  useEffect(() => {
    const listener = () => set(readRoute(location.hash));
    window.addEventListener("hashchange", listener);
    return () => window.removeEventListener("hashchange", listener);
  }, []);
  return route;
}

function ThemeButton() {
  const now = useTheme();
  return (
    <button
      type="button"
      class="theme"
      onClick={toggleTheme}
      aria-label={now === "dark" ? "Light colours" : "Dark colours"}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6.25" />
        <path d="M8 1.75a6.25 6.25 0 0 1 0 12.5z" />
      </svg>
    </button>
  );
}

function Switcher({ documents, current }: { documents: readonly Document[]; current: number | undefined }) {
  if (documents.length < 2) return null;
  return (
    <label class="switcher">
      <span class="unseen">Document</span>
      <select
        value={current === undefined ? "" : String(current)}
        onChange={({ currentTarget: { value } }) => {
          location.hash = address(
            value === "" ? { page: "overview" } : { page: "document", document: Number(value) },
          );
        }}
      >
        <option value="">All documents</option>
        {documents.map(({ command, headline }, i) => (
          <option key={i} value={String(i)}>
            {`${i + 1} ${command}: ${headline.length > 60 ? `${headline.slice(0, 59)}…` : headline}`}
          </option>
        ))}
      </select>
    </label>
  );
}

function Contents({ document, index }: { document: Document; index: number }) {
  return (
    <nav class="contents" aria-label="Contents">
      <ol>
        {contents(document).map(({ id, title }) => (
          <li key={id}>
            <a href={address({ page: "document", document: index, section: id })}>{title}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Page({ route, documents }: { route: Route; documents: readonly Document[] }) {
  if (route.page === "overview") return <Overview documents={documents} />;
  const document = documents[route.document];
  if (document === undefined) return <h1 tabIndex={-1}>This report has no document {route.document + 1}</h1>;
  const key = JSON.stringify({ ...route, section: undefined });
  return (
    <PlaceProvider value={{ document, index: route.document }}>
      {route.page === "layer" && <LayerPage key={key} layer={route.layer} />}
      {route.page === "neuron" && <NeuronPage key={key} layer={route.layer} neuron={route.neuron} />}
      {route.page === "combination" && (
        <CombinationPage key={key} layer={route.layer} m={route.m} combination={route.combination} />
      )}
      {route.page === "document" && <DocumentPage key={key} document={document} />}
    </PlaceProvider>
  );
}

/** A new page starts at its heading; a link to a section goes there. The first page keeps the reader's focus. */
function useArrival(route: Route): void {
  const first = useRef(true);
  useLayoutEffect(() => {
    const section = route.page === "document" ? route.section : undefined;
    const target = section === undefined ? undefined : window.document.getElementById(section);
    if (target !== undefined && target !== null) {
      target.scrollIntoView();
      target.querySelector<HTMLElement>("h2")?.focus({ preventScroll: true });
    } else if (!first.current) {
      window.scrollTo(0, 0);
      window.document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
    }
    first.current = false;
  }, [route]);
}

export function App({ documents }: { documents: readonly Document[] }) {
  const asked = useRoute();
  const route: Route =
    asked.page === "overview" && documents.length === 1 ? { page: "document", document: 0 } : asked;
  const current = route.page === "overview" ? undefined : route.document;
  const document = current === undefined ? undefined : documents[current];
  useArrival(asked);
  useEffect(() => {
    window.document.title =
      document === undefined ? "Assay report" : `${document.headline || document.command} · Assay`;
  }, [document]);
  return (
    <>
      <button
        type="button"
        class="skip"
        onClick={() => window.document.querySelector<HTMLElement>("h1")?.focus()}
      >
        Skip to content
      </button>
      <header class="top">
        <a class="brand" href={address({ page: "overview" })}>
          Assay
        </a>
        <Switcher documents={documents} current={current} />
        <ThemeButton />
      </header>
      <div class={document === undefined ? "body body-wide" : "body"}>
        {document !== undefined && current !== undefined && <Contents document={document} index={current} />}
        <main id="main">
          <Page route={route} documents={documents} />
        </main>
      </div>
    </>
  );
}
