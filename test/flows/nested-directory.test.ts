// @module-tag slow
import { readFileSync, writeFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { copy, open, rechunk } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { runHere } from "../support/cli-here.ts";
import { digestOf } from "../support/consume.ts";
import { given } from "../support/given.ts";

const nested = { v2: { separator: "/" } } as const;
const folder = temporaryFolder();
let source: string;
let told: string;

/** A group as nested directories were written before their arrays stated a separator. */
beforeAll(async () => {
  const grid = { shape: [4, 6], chunks: [2, 3], dimensionNames: ["y", "x"] };
  const a = { ...grid, dataType: "int32", separator: "/" } as const;
  source = await given({ at: folder.next(), zarrFormat: "v2", arrays: { a } });
  const { dimension_separator: _, ...zarray } = JSON.parse(readFileSync(`${source}/a/.zarray`, "utf8"));
  writeFileSync(`${source}/a/.zarray`, JSON.stringify(zarray));
  told = await digestOf(await open(source, nested));
});

// V2-81
test("is read with the separator that its opener is given, and states it in copies, or needs none", async () => {
  expect(await digestOf(await open(source, { v2: { separator: "." } }))).not.toBe(told);
  expect(await digestOf(await open(`${source}/a`, nested))).toBe(told);
  expect(await digestOf(source, nested)).toBe(told);
  const [copied, rechunked] = [folder.next(), folder.next()];
  await copy(source, copied, nested);
  await rechunk(source, rechunked, { ...nested, chunks: { y: 4, x: 2 } });
  for (const url of [copied, rechunked]) expect(await digestOf(url)).toBe(told);
});

test.each([
  ["copy", "--update"],
  ["rechunk", "--chunks", "y=4,x=2"],
  ["convert", "--to", "v3"],
  ["slice", "--slice", "y=0:4"],
])("`%s --v2-separator /` reads it, in threads too", async (command, ...flags) => {
  const target = folder.next();
  const args = [command, source, target, ...flags, "--v2-separator", "/", "--threads", "2"];
  expect(await runHere(folder.path, ...args)).toMatchObject({ code: 0 });
  expect(await digestOf(target)).toBe(told);
});

test("every command that reads chunks takes --v2-separator", async () => {
  const run = async (...args: string[]) => (await runHere(folder.path, ...args)).stdout;
  const ran = (...args: string[]) => run(...args, "--v2-separator", "/");
  expect(JSON.parse(await ran("info", `${source}/a`, "--json"))).toMatchObject([{ chunksPresent: 4 }]);
  expect(await ran("slice", `${source}/a`, "--format", "json", "--flat")).toContain("[0,1,2,3,4,5,6,");
  expect(await ran("digest", source)).toContain(told);
  expect(await ran("validate", source)).not.toContain("other-separator");
  expect(await run("validate", source, "--v2-separator", ".")).toContain("it is never read");
  const stated = folder.next();
  await copy(source, stated, nested);
  expect(await ran("diff", source, stated)).toBe("");
});
