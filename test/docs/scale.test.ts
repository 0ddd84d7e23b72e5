import { expect, test } from "vitest";
import { requireBuild } from "../built-package.ts";
import { read } from "./code-block.ts";

test("the tables of docs/scale.md are what the simulator prints", async () => {
  requireBuild();
  const { scaleTables } = (await import("../../bench/scale.mjs" as string)) as {
    readonly scaleTables: () => Promise<string>;
  };
  expect(read("docs/scale.md")).toContain(await scaleTables());
});
