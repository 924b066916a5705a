import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const MARK = "SCRIPT_HASH";
const SCRIPT = /<script type="module"[^>]*>([\s\S]*?)<\/script>/g;

/** Puts the digest of the page's own script into its content security policy: no other script runs, nothing is fetched. */
export function contentSecurityPolicy(): Plugin {
  return {
    name: "content-security-policy",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const page = bundle["index.html"];
        if (page?.type !== "asset") throw new Error("content-security-policy: the build made no index.html");
        const html = page.source.toString();
        const scripts = [...html.matchAll(SCRIPT)];
        const code = scripts[0]?.[1];
        if (scripts.length !== 1 || code === undefined || code.trim() === "")
          throw new Error("content-security-policy: one script expected");
        const digest = createHash("sha256").update(code).digest("base64");
        page.source = html.replace(MARK, () => `sha256-${digest}`);
      },
    },
  };
}
