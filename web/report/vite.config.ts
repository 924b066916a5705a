import preact from "@preact/preset-vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { defineConfig } from "vitest/config";
import { licences } from "./build/licences.ts";
import { outputName } from "./build/output-name.ts";
import { contentSecurityPolicy } from "./build/security-policy.ts";

export default defineConfig({
  plugins: [
    preact(),
    licences(["@fontsource-variable/inter"]),
    viteSingleFile(),
    contentSecurityPolicy(),
    outputName("report.html"),
  ],
  build: {
    target: "es2022",
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    modulePreload: false,
    reportCompressedSize: false,
  },
  test: {
    projects: [
      { extends: true, test: { name: "unit", include: ["tests/unit/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "browser",
          include: ["tests/browser/**/*.test.ts"],
          // Against what never ends, not of slow machines: each step waits for what the page shows.
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
