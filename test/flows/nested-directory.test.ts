// @module-tag slow
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copy, open, rechunk } from "../../src/index.ts";
import { runHere } from "../support/cli-here.ts";
import { digestOf } from "../support/consume.ts";
import { given } from "../support/given.ts";

const nested = { v2: { separator: "/" } } as const;
let folder: string;
let source: string;

/** A group as nested directories were written before their arrays stated a separator. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zarrflow-nested-"));
  const grid = { shape: [4, 6], chunks: [2, 3], dimensionNames: ["y", "x"] };
  const a = { ...grid, dataType: "int32", separator: "/" } as const;
  source = await given({ at: join(folder, "old.zarr"), zarrFormat: "v2", arrays: { a } });
  const { dimension_separator: _, ...zarray } = JSON.parse(readFileSync(join(source, "a/.zarray"), "utf8"));
  writeFileSync(join(source, "a/.zarray"), JSON.stringify(zarray));
});
afterAll(() => rmSync(folder, { recursive: true }));

// V2-81
test("is read with the separator that its opener is given", async () => {
  const told = await digestOf(await open(source, nested));
  expect(await digestOf(await open(source, { v2: { separator: "." } }))).not.toBe(told);
  expect(await digestOf(await open(join(source, "a"), nested))).toBe(told);
  expect(await digestOf(source, nested)).toBe(told);
});

test.each([
  ["copied", copy, {}],
  ["rechunked", rechunk, { chunks: { y: 4, x: 2 } }],
] as const)("%s, it states its separator or needs none", async (name, flow, options) => {
  const target = join(folder, `${name}.zarr`);
  await flow(source, target, { ...nested, ...options } as never);
  expect(await digestOf(target)).toBe(await digestOf(await open(source, nested)));
});

test.each([
  ["copy", "--update"],
  ["rechunk", "--chunks", "y=4,x=2"],
  ["convert", "--to", "v3"],
  ["slice", "--slice", "y=0:4"],
])("`%s --v2-separator /` reads it, in threads too", async (command, ...flags) => {
  const target = `by-${command}.zarr`;
  const args = [command, "old.zarr", target, ...flags, "--v2-separator", "/", "--threads", "2"];
  expect(await runHere(folder, ...args)).toMatchObject({ code: 0 });
  expect(await digestOf(join(folder, target))).toBe(await digestOf(source, nested));
});

test("every command that reads chunks takes --v2-separator", async () => {
  const run = async (...args: string[]) => (await runHere(folder, ...args, "--v2-separator", "/")).stdout;
  expect(JSON.parse(await run("info", "old.zarr/a", "--json"))).toMatchObject([{ chunksPresent: 4 }]);
  expect(await run("slice", "old.zarr/a", "--format", "json", "--flat")).toContain("[0,1,2,3,4,5,6,");
  expect(await run("digest", "old.zarr")).toContain(await digestOf(source, nested));
  expect(await run("validate", "old.zarr")).not.toContain("other-separator");
  const flat = await runHere(folder, "validate", "old.zarr", "--v2-separator", ".");
  expect(flat.stdout).toContain("it is never read");
  await copy(source, join(folder, "stated.zarr"), nested);
  expect(await run("diff", "old.zarr", "stated.zarr")).toBe("");
});
