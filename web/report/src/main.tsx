import "./style.css";
import { render } from "preact";
import { App } from "./app";
import { parse } from "./model/document";
import { unfoldOnPaper } from "./print";

const host = document.getElementById("app");
if (host === null) throw new Error("the page has no element 'app'");
unfoldOnPaper();
try {
  render(<App documents={parse(document.getElementById("assay-data")?.textContent ?? "")} />, host);
} catch (error) {
  render(
    <main class="failure">
      <h1>This report cannot be shown</h1>
      <p>{error instanceof Error ? error.message : String(error)}</p>
      <p>Write it again with assay report.</p>
    </main>,
    host,
  );
}
