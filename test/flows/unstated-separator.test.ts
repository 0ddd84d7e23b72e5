// @module-tag slow
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  copy,
  createGroup,
  diff,
  digest,
  type FlowEvent,
  info,
  openArray,
  rechunk,
  resizeArray,
  slice,
  validate,
  writeRegion,
} from "../../src/index.ts";
import type { Store } from "../../src/stores/store.ts";
import { openStore, parseStoreUrl } from "../../src/stores/url.ts";
import { runHere } from "../support/cli-here.ts";
import { all, digestOf } from "../support/consume.ts";
import { given } from "../support/given.ts";

const VALUES = Int32Array.from({ length: 24 }, (_, i) => i + 1);
let folder: string;

/** A group as nested directories were written before their arrays stated a separator. */
async function nestedGroup(name: string, first = 0): Promise<string> {
  const url = join(folder, name);
  const group = await createGroup(url, { zarrFormat: "v2" });
  const array = await group.create("a", {
    shape: [4, 6],
    chunks: [2, 3],
    dataType: "int32",
    fillValue: -1,
    separator: "/",
    codec: "none",
    dimensionNames: ["y", "x"],
  });
  const rows = VALUES.subarray(first * 6);
  await array.write({ y: [first, 4] }, rows);
  await array.close();
  await group.close();
  const read = (key: string) => JSON.parse(readFileSync(join(url, key), "utf8"));
  const { dimension_separator: _, ...zarray } = read("a/.zarray");
  const metadata = { ".zgroup": read(".zgroup"), "a/.zarray": zarray, "a/.zattrs": read("a/.zattrs") };
  writeFileSync(join(url, "a/.zarray"), JSON.stringify(zarray));
  writeFileSync(join(url, ".zmetadata"), JSON.stringify({ zarr_consolidated_format: 1, metadata }));
  return url;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "zarrflow-unstated-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The store of a URL as one that cannot list, and notes the chunks whose size it is asked for. */
async function unlisted(url: string): Promise<{ store: Store; asked: string[] }> {
  const { spec } = parseStoreUrl(url);
  const inner = await openStore(spec);
  const asked: string[] = [];
  return {
    asked,
    store: {
      description: "unlisted",
      get: (key, options) => inner.get(key, options),
      size: (key, options) => {
        if (!/\.z[a-z]+$/.test(key)) asked.push(key);
        return inner.size(key, options);
      },
    },
  };
}

// V2-81
describe("chunks at nested keys of an array that states no separator", () => {
  test("are what every reader reads", async () => {
    const url = await nestedGroup("read.zarr");
    const array = await openArray(`${url}/a`);
    expect((await slice(array).read()).data).toEqual(VALUES);
    expect((await slice(`${url}/a`, { y: 1 }).read()).data).toEqual(VALUES.subarray(6, 12));
    const told = await digestOf(url, { v2: { separator: "/" } });
    expect(await digestOf(url)).toBe(told);
    for await (const { chunksPresent } of info(url)) expect(chunksPresent).toBe(4);
    await copy(url, join(folder, "told.zarr"), { v2: { separator: "/" } });
    const found = await all(diff(url, join(folder, "told.zarr")));
    expect(found).toEqual([]);
  });

  test.each([
    ["copied", copy, {}, ".zarr"],
    ["copied into a zip", copy, {}, ".zip"],
    ["rechunked", rechunk, { chunks: { y: 4, x: 2 } }, ".zarr"],
    ["rechunked by threads", rechunk, { chunks: { y: 4, x: 2 }, threads: 2 }, ".zarr"],
    ["converted", copy, { to: "v3" }, ".zarr"],
  ] as const)("%s, are all there, and stated, with a warning", async (name, flow, options, ending) => {
    const url = await nestedGroup(`${name}-source.zarr`);
    const target = join(folder, `${name}${ending}`);
    const warnings: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => event.type === "warning" && warnings.push(event);
    await flow(url, target, { ...options, onEvent } as never);
    expect((await slice(`${target}/a`).read()).data).toEqual(VALUES);
    expect(warnings).toMatchObject([{ path: "a", message: expect.stringMatching(/dimension_separator/) }]);
    const array = await openArray(`${target}/a`, { v2: { separator: "." } });
    expect((await slice(array).read()).data).toEqual(VALUES);
    await array.store.close?.();
  });

  test.each([
    ["info", info],
    ["digest", digest],
    ["diff", (url: string, options: object) => diff(url, url, options)],
  ] as const)("are reported by %s, once an array that is read", async (name, flow) => {
    const url = await nestedGroup(`${name}-told.zarr`);
    const warnings: unknown[] = [];
    const onEvent = (event: { readonly type: string }) => event.type === "warning" && warnings.push(event);
    for await (const _ of flow(url, { onEvent }) as AsyncIterable<unknown>);
    const one = {
      path: "a",
      message: expect.stringMatching(/dimension_separator/),
      hint: expect.any(String),
    };
    expect(warnings).toMatchObject(name === "diff" ? [one, one] : [one]);
    warnings.length = 0;
    for await (const _ of flow(url, { onEvent, v2: { separator: "/" } }) as AsyncIterable<unknown>);
    expect(warnings).toEqual([]);
  });

  test("are reported by the command", async () => {
    const url = await nestedGroup("command-told.zarr");
    for (const args of [
      ["info", url],
      ["digest", url],
      ["diff", url, url],
    ]) {
      expect((await runHere(folder, ...args)).stderr).toMatch(/^warning: .*dimension_separator.* \(?a/m);
      expect((await runHere(folder, ...args, "--no-warnings")).stderr).not.toMatch(/dimension_separator/);
    }
  });

  test("of which the first is missing are found", async () => {
    const url = await nestedGroup("sparse.zarr", 2);
    const expected = Int32Array.from(VALUES, (value, i) => (i < 12 ? -1 : value));
    expect((await slice(`${url}/a`).read()).data).toEqual(expected);
  });

  test("are found by one request where the store cannot list", async () => {
    const url = await nestedGroup("unlisted.zarr");
    const { store, asked } = await unlisted(url);
    const array = await openArray({ store, path: "a" });
    expect(asked).toEqual([]);
    expect((await slice(array).read()).data).toEqual(VALUES);
    expect((await slice(array, { y: 0 }).read()).data).toEqual(VALUES.subarray(0, 6));
    expect(asked).toEqual(["a/0/0", "a/0.0"]);
    expect(await digestOf({ store, path: "" })).toBe(await digestOf(url));
  });

  test("are not taken beside flat ones, which are the array's", async () => {
    const url = await nestedGroup("mixed.zarr");
    const flat = new Uint8Array(24).fill(1);
    writeFileSync(join(url, "a/1.0"), flat);
    const { data } = await slice(`${url}/a`).read();
    expect(Array.from(data as Int32Array, Number).slice(0, 13)).toEqual([...Array(12).fill(-1), 0x01010101]);
    const messages = (await all(validate(url))).map(({ what, level }) => [what, level]);
    expect(messages).toContainEqual(["other-separator", "warning"]);
  });

  test("are reported by validate", async () => {
    const url = await nestedGroup("validated.zarr");
    const findings = await all(validate(url, { deep: true }));
    expect(findings).toEqual([
      {
        level: "warning",
        what: "metadata",
        path: "a",
        message: expect.stringMatching(/omit `dimension_separator`/),
        pointer: "/dimension_separator",
      },
    ]);
  });

  test("are what is changed, too", async () => {
    const url = await nestedGroup("changed.zarr");
    await writeRegion(await openArray(`${url}/a`), { y: 0 }, new Int32Array(6).fill(7));
    const expected = Int32Array.from(VALUES, (value, i) => (i < 6 ? 7 : value));
    expect((await slice(`${url}/a`).read()).data).toEqual(expected);
    const smaller = await resizeArray(`${url}/a`, [2, 6], { outside: "delete" });
    expect(smaller.metadata.chunkKeyEncoding.separator).toBe("/");
    const grown = await resizeArray(`${url}/a`, [4, 6]);
    expect((await slice(grown).read()).data).toEqual(
      Int32Array.from(expected, (value, i) => (i < 12 ? value : -1)),
    );
  });

  test("are read by the command", async () => {
    await nestedGroup("by-command.zarr");
    const run = (...args: string[]) => runHere(folder, ...args);
    const copied = await run("copy", "by-command.zarr", "by-command-copy.zarr", "--verify");
    expect(copied.stderr).toMatch(/warning: .*dimension_separator/);
    expect((await run("diff", "by-command.zarr", "by-command-copy.zarr")).code).toBe(0);
    const { stdout } = await run("slice", "by-command-copy.zarr/a", "--format", "json");
    expect(stdout).toContain("[[1,2,3,4,5,6],");
    const sliced = await run("slice", "by-command.zarr/a", "--format", "json");
    expect(sliced.stdout).toContain("[[1,2,3,4,5,6],");
    expect(sliced.stderr.match(/^warning: .*dimension_separator/gm)).toHaveLength(1);
    expect((await run("slice", "by-command.zarr/a", "--format", "json", "--no-warnings")).stderr).toBe("");
  });
});

describe("arrays at flat keys that state no separator", () => {
  test("cost no look where a chunk shows how keys are joined", async () => {
    const flat = { shape: [4, 6], chunks: [2, 3], dataType: "int32", values: VALUES };
    const url = await given({ at: join(folder, "flat.zarr"), zarrFormat: "v2", ...flat });
    const { store, asked } = await unlisted(url);
    const opened = await openArray(store);
    for (let i = 0; i < 3; i++) expect((await slice(opened).read()).data).toEqual(VALUES);
    expect(asked).toEqual([]);
    await openArray(store, { v2: { separator: "." } }).then((told) => slice(told).read());
    expect(asked).toEqual([]);
  });
});
