import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copy, create, createGroup, digest, open, rechunk } from "../../src/index.ts";

const nested = { v2: { separator: "/" } } as const;
let folder: string;
let source: string;

/** A group as nested directories were written before their arrays stated a separator. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zarrflow-nested-"));
  source = join(folder, "old.zarr");
  await (await createGroup(source, { dialect: "v2" })).close();
  const array = await create(join(source, "a"), {
    dialect: "v2",
    shape: [4, 6],
    chunks: [2, 3],
    dataType: "int32",
    separator: "/",
    dimensionNames: ["y", "x"],
  });
  await array.write(
    {},
    Int32Array.from({ length: 24 }, (_, i) => i),
  );
  await array.close();
  const { dimension_separator: _, ...zarray } = JSON.parse(readFileSync(join(source, "a/.zarray"), "utf8"));
  writeFileSync(join(source, "a/.zarray"), JSON.stringify(zarray));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function digestOf(source: Parameters<typeof digest>[0]): Promise<string | undefined> {
  for await (const { sha256 } of digest(source)) return sha256;
  return undefined;
}

// V2-81
test("is read as its opener is told", async () => {
  const told = await digestOf(await open(source, nested));
  expect(await digestOf(await open(source))).not.toBe(told);
  expect(await digestOf(await open(join(source, "a"), nested))).toBe(told);
});

test.each([
  ["copied", copy, {}],
  ["re-cut", rechunk, { chunks: { y: 4, x: 2 } }],
] as const)("%s, it states its separator or needs none", async (name, flow, options) => {
  const target = join(folder, `${name}.zarr`);
  await flow(await open(source, nested), target, options as never);
  expect(await digestOf(target)).toBe(await digestOf(await open(source, nested)));
});
