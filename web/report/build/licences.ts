import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

interface Package {
  name: string;
  version: string;
  text: string;
}

function packageFolder(file: string): string | undefined {
  const at = file.lastIndexOf("/node_modules/");
  if (at < 0) return undefined;
  const parts = file.slice(at + "/node_modules/".length).split("/");
  const name = parts[0]?.startsWith("@") ? parts.slice(0, 2) : parts.slice(0, 1);
  return join(file.slice(0, at), "node_modules", ...name);
}

function describe(folder: string): Package {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`licences: ${name} ships no licence text`);
  return { name, version, text: readFileSync(join(folder, file), "utf8").trim() };
}

/** Keeps the licence texts of all bundled packages in the page, as those licences ask; `assets` are packages without code. */
export function licences(assets: readonly string[]): Plugin {
  let root = "";
  return {
    name: "licences",
    configResolved(config) {
      root = config.root;
    },
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle }) {
        if (bundle === undefined) return html;
        const used = new Set(assets.map((name) => join(root, "node_modules", name)));
        for (const chunk of Object.values(bundle)) {
          if (chunk.type !== "chunk") continue;
          for (const [id, module] of Object.entries(chunk.modules)) {
            const folder = packageFolder(id.split("?")[0] ?? "");
            if (folder !== undefined && module.renderedLength > 0) used.add(folder);
          }
        }
        const texts = [...used]
          .map(describe)
          .sort((a, b) => a.name.localeCompare(b.name, "en"))
          .map(({ name, version, text }) => `${name} ${version}\n\n${text.replaceAll("-->", "-- >")}`);
        return `${html.trimEnd()}\n<!--\nThis page contains:\n\n${texts.join("\n\n====\n\n")}\n-->\n`;
      },
    },
  };
}
