// @module-tag slow
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  convert,
  copy,
  createGroup,
  diff,
  digest,
  type FlowEvent,
  info,
  type OpenSource,
  openArray,
  rechunk,
  resizeArray,
  slice,
  validate,
  writeRegion,
} from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { Store } from "../../src/stores/store.ts";
import { openStore, parseStoreUrl } from "../../src/stores/url.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { runHere } from "../support/cli-here.ts";
import { all, digestOf, drain } from "../support/consume.ts";
import { given, givenKeys } from "../support/given.ts";

const folder = temporaryFolder();
const GRID = { shape: [4, 6], chunks: [2, 3], dataType: "int32" } as const;
const VALUES = Int32Array.from({ length: 24 }, (_, i) => i + 1);
const MESSAGE = expect.stringMatching(/dimension_separator/);

/** A group as nested directories were written before their arrays stated a separator. */
async function nestedGroup(first = 0): Promise<string> {
  const url = folder.next("nested.zarr");
  const group = await createGroup(url, { zarrFormat: "v2" });
  const how = { fillValue: -1, separator: "/", codec: "none", dimensionNames: ["y", "x"] } as const;
  const array = await group.create("a", { ...GRID, ...how });
  await array.write({ y: [first, 4] }, VALUES.subarray(first * 6));
  await array.close();
  await group.close();
  const read = (key: string) => JSON.parse(readFileSync(join(url, key), "utf8"));
  const { dimension_separator: _, ...zarray } = read("a/.zarray");
  const metadata = { ".zgroup": read(".zgroup"), "a/.zarray": zarray, "a/.zattrs": read("a/.zattrs") };
  writeFileSync(join(url, "a/.zarray"), JSON.stringify(zarray));
  writeFileSync(join(url, ".zmetadata"), JSON.stringify({ zarr_consolidated_format: 1, metadata }));
  return url;
}

/** The store of a URL as one that cannot list, and notes the chunks whose size it is asked for. */
async function unlisted(url: string): Promise<{ store: Store; asked: string[] }> {
  const inner = await openStore(parseStoreUrl(url).spec);
  const asked: string[] = [];
  const size: Store["size"] = (key, options) => {
    if (!/\.z[a-z]+$/.test(key)) asked.push(key);
    return inner.size(key, options);
  };
  return { asked, store: { description: "unlisted", get: inner.get.bind(inner), size } };
}

const dataOf = async (...of: Parameters<typeof slice>) => (await slice(...of).read()).data;
/** The values, but for those of the first rows. */
const withFirst = (value: number, rows: number) => Int32Array.from(VALUES).fill(value, 0, rows * 6);

// V2-81
describe("chunks at nested keys of an array that states no separator", () => {
  test("are what every reader reads", async () => {
    const url = await nestedGroup();
    expect(await dataOf(await openArray(`${url}/a`))).toEqual(VALUES);
    expect(await dataOf(`${url}/a`, { y: 1 })).toEqual(VALUES.subarray(6, 12));
    expect(await digestOf(url)).toBe(await digestOf(url, { v2: { separator: "/" } }));
    expect(await all(info(url))).toMatchObject([{ chunksPresent: 4 }]);
    await copy(url, `${url}.told`, { v2: { separator: "/" } });
    expect(await all(diff(url, `${url}.told`))).toEqual([]);
    const pointer = "/dimension_separator";
    const message = expect.stringMatching(/omits `dimension_separator`/);
    const finding = { level: "warning", what: "metadata", path: "a", message, pointer };
    expect(await all(validate(url, { deep: true }))).toEqual([finding]);
    const lacking = `${await nestedGroup(2)}/a`;
    expect(await dataOf(lacking)).toEqual(withFirst(-1, 2));
  });

  test.each([
    ["copied", copy, {}, ".zarr"],
    ["copied into a zip", copy, {}, ".zip"],
    ["rechunked", rechunk, { chunks: { y: 4, x: 2 } }, ".zarr"],
    ["rechunked by threads", rechunk, { chunks: { y: 4, x: 2 }, threads: 2 }, ".zarr"],
    ["converted", copy, { to: "v3" }, ".zarr"],
  ] as const)("%s, are all there, and stated, with a warning", async (_, flow, options, ending) => {
    const target = folder.next(`t${ending}`);
    const warnings: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => event.type === "warning" && warnings.push(event);
    await flow(await nestedGroup(), target, { ...options, onEvent } as never);
    expect(await dataOf(`${target}/a`)).toEqual(VALUES);
    expect(warnings).toMatchObject([{ path: "a", message: MESSAGE }]);
    const array = await openArray(`${target}/a`, { v2: { separator: "." } });
    expect(await dataOf(array)).toEqual(VALUES);
    await array.store.close?.();
  });

  test.each<[string, (of: OpenSource, options: object) => AsyncIterable<unknown>, number]>([
    ["info", info, 1],
    ["digest", digest, 1],
    ["diff", (url, options) => diff(url, url, options), 2],
  ])("are reported by %s, once an array that is read, and by the command", async (name, flow, times) => {
    const url = await nestedGroup();
    const warnings: unknown[] = [];
    const onEvent = (event: { readonly type: string }) => event.type === "warning" && warnings.push(event);
    await drain(flow(url, { onEvent }));
    expect(warnings).toMatchObject(
      Array(times).fill({ path: "a", message: MESSAGE, hint: expect.any(String) }),
    );
    warnings.length = 0;
    await drain(flow(url, { onEvent, v2: { separator: "/" } }));
    expect(warnings).toEqual([]);
    const args = [name, ...Array<string>(times).fill(url)];
    expect((await runHere(".", ...args)).stderr).toMatch(/^warning: .*dimension_separator.* \(?a/m);
    expect((await runHere(".", ...args, "--no-warnings")).stderr).not.toMatch(/dimension_separator/);
  });

  test("are found by one request where the store cannot list", async () => {
    const url = await nestedGroup();
    const { store, asked } = await unlisted(url);
    const array = await openArray({ store, path: "a" });
    expect(asked).toEqual([]);
    expect(await dataOf(array)).toEqual(VALUES);
    expect(await dataOf(array, { y: 0 })).toEqual(VALUES.subarray(0, 6));
    expect(asked).toEqual(["a/0/0", "a/0.0"]);
    expect(await digestOf({ store, path: "" })).toBe(await digestOf(url));
  });

  test("are not taken beside flat ones, which are the array's", async () => {
    const url = await nestedGroup();
    writeFileSync(join(url, "a/1.0"), new Uint8Array(24).fill(1));
    expect([...(await dataOf(`${url}/a`))].slice(0, 13)).toEqual([...Array(12).fill(-1), 0x01010101]);
    const found = (await all(validate(url))).map(({ what, level }) => [what, level]);
    expect(found).toContainEqual(["other-separator", "warning"]);
  });

  test("are what is changed, too", async () => {
    const url = `${await nestedGroup()}/a`;
    await writeRegion(await openArray(url), { y: 0 }, new Int32Array(6).fill(7));
    expect(await dataOf(url)).toEqual(withFirst(7, 1));
    const smaller = await resizeArray(url, [2, 6], { outside: "delete" });
    expect(smaller.metadata.chunkKeyEncoding.separator).toBe("/");
    const grown = await resizeArray(url, [4, 6]);
    expect(await dataOf(grown)).toEqual(withFirst(7, 1).fill(-1, 12));
  });

  test("are read by the command", async () => {
    const url = await nestedGroup();
    const run = (...args: string[]) => runHere(".", ...args);
    const copied = await run("copy", url, `${url}.copy`, "--verify");
    expect(copied.stderr).toMatch(/warning: .*dimension_separator/);
    expect((await run("diff", url, `${url}.copy`)).code).toBe(0);
    const sliced = await run("slice", `${url}/a`, "--format", "json");
    expect(sliced.stdout).toContain("[[1,2,3,4,5,6],");
    expect(sliced.stderr.match(/^warning: .*dimension_separator/gm)).toHaveLength(1);
    expect((await run("slice", `${url}/a`, "--format", "json", "--no-warnings")).stderr).toBe("");
  });
});

test("flat keys of an array that states no separator cost no look where a chunk shows how they are joined", async () => {
  const url = await given({ at: folder.next("flat.zarr"), zarrFormat: "v2", ...GRID, values: VALUES });
  const { store, asked } = await unlisted(url);
  const opened = await openArray(store);
  for (let i = 0; i < 3; i++) expect(await dataOf(opened)).toEqual(VALUES);
  await dataOf(await openArray(store, { v2: { separator: "." } }));
  expect(asked).toEqual([]);
});

/** A chunk as `vlen-utf8` and `vlen-bytes` store it: a count, then each item behind its length. */
function vlenChunk(items: readonly string[]): Uint8Array {
  const encoded = items.map((item) => new TextEncoder().encode(item));
  const parts = encoded.flatMap((bytes) => [new Uint8Array(Uint32Array.of(bytes.length).buffer), bytes]);
  return Buffer.concat([new Uint8Array(Uint32Array.of(items.length).buffer), ...parts]);
}

/** An array as zarr-python 3.0 wrote text and bytes of a fixed length in v2: with a filter of strings. */
function stored(dtype: string, filter: string): Promise<MemoryStore> {
  const array = { zarr_format: 2, shape: [4], chunks: [3], dtype, order: "C", compressor: null };
  const document = { ...array, fill_value: "", filters: [{ id: filter }], dimension_separator: "." };
  const chunks = { 0: vlenChunk(["a", "bé", ""]), 1: vlenChunk(["xyz", "", ""]) };
  return givenKeys({ ".zarray": document, ...chunks });
}

/** Values as text. */
async function textsIn(store: MemoryStore): Promise<unknown[]> {
  const data = await dataOf(await openArray(store));
  const decoder = new TextDecoder();
  return Array.from(data as ArrayLike<string | Uint8Array>, (item) =>
    typeof item === "string" ? item : decoder.decode(item),
  );
}

test.each([
  ["<U3", "vlen-utf8", "string"],
  [">U3", "vlen-utf8", "string"],
  ["|S6", "vlen-bytes", "binary"],
])("%s behind %s is read, rechunked and converted as %s", async (dtype, filter, dataType) => {
  const source = await stored(dtype, filter);
  expect((await openArray(source)).dataType).toBe(dataType);
  const values = ["a", "bé", "", "xyz"];
  expect(await textsIn(source)).toEqual(values);
  const [copied, rechunked, converted] = [new MemoryStore(), new MemoryStore(), new MemoryStore()];
  await copy(source, copied);
  expect(await copied.get(".zarray")).toEqual(await source.get(".zarray"));
  await rechunk(source, rechunked, { chunks: [2] });
  expect(await textsIn(rechunked)).toEqual(values);
  // of the types of v2, the one of objects is what other readers take with this filter
  expect(JSON.parse(new TextDecoder().decode(await rechunked.get(".zarray")))).toMatchObject({
    dtype: "|O",
    filters: [{ id: filter }],
  });
  await convert(source, converted, { to: "v3" });
  expect(await textsIn(converted)).toEqual(values);
});
