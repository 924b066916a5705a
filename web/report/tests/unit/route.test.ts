import { describe, expect, it } from "vitest";
import { address, type Route, readRoute } from "../../src/route";

describe("addresses", () => {
  it.each<Route>([
    { page: "overview" },
    { page: "document", document: 3 },
    { page: "document", document: 0, section: "growth" },
    { page: "layer", document: 1, layer: "a/b#c %?é" },
    { page: "neuron", document: 1, layer: "block/1", neuron: "12" },
    { page: "combination", document: 1, layer: "fc", m: "6", combination: "2.0.1" },
  ])("lead back to their route: %j", (route) => expect(readRoute(address(route))).toEqual(route));
  it.each(["", "#", "#/x", "#/0", "#/-1", "#/1.5"])("that name nothing lead to the overview: '%s'", (hash) =>
    expect(readRoute(hash)).toEqual({ page: "overview" }),
  );
  it("with broken escapes are taken as they stand", () =>
    expect(readRoute("#/1/layer/%E0%")).toEqual({ page: "layer", document: 0, layer: "%E0%" }));
});
