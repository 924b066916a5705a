import type { Plugin } from "vite";

/** Names the one page that the build writes. */
export function outputName(name: string): Plugin {
  return {
    name: "output-name",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const page = bundle["index.html"];
        if (page === undefined) throw new Error("output-name: the build made no index.html");
        page.fileName = name;
      },
    },
  };
}
