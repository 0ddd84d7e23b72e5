import { afterEach, describe, expect, test } from "vitest";
import { convert, copy, isZarrflowError, open, openGroup, rechunk, sliceTo, walk } from "../../src/index.ts";
import { nameMemoryStore } from "../../src/stores/memory.ts";
import { described, references, withoutMissing } from "../support/conventions.ts";
import { CORPUS, corpusCases, LEGACY_CORPUS } from "./corpora.ts";
import { hasShared } from "./shared.ts";

const TAGS = ["cf", "xarray", "ome-ngff", "multiscale"];

/** Stores of other writers that keep conventions, each once. */
const stores = [
  ...corpusCases
    .filter(({ tags, error }) => error === undefined && tags.some((tag) => TAGS.includes(tag)))
    .map(({ path }) => CORPUS + path),
  ...["geo", "pyramid"].map((name) => `${LEGACY_CORPUS}ogc-v2/${name}.zarr`),
];
const urls = [...new Set(stores)].sort();

const targets = ["copied", "rechunked", "there", "back", "part"].map((name) => `conventions-${name}`);

afterEach(() => {
  for (const name of targets) nameMemoryStore(name, undefined);
});

const [copied, rechunked, there, back, part] = targets.map((name) => `memory:${name}`) as [
  string,
  string,
  string,
  string,
  string,
];

describe.runIf(hasShared).each(urls)("%s", (url) => {
  test("what its conventions say comes through a copy, other chunks and the other format", async () => {
    const [before, named] = [await described(url), await references(url)];
    const { layout } = await open(url);
    await copy(url, copied);
    await rechunk(url, rechunked, { chunks: await halves(url) });
    for (const target of [copied, rechunked]) {
      expect(await described(target), target).toEqual(before);
      expect(await references(target), target).toEqual(named);
    }
    const allowLoss = await lossesOf(url, layout.zarrFormat === "v2" ? "v3" : "v2");
    await convert(url, there, { to: layout.zarrFormat === "v2" ? "v3" : "v2", allowLoss });
    await convert(there, back, { to: layout.zarrFormat as "v2" | "v3" });
    const expected = allowLoss.length > 0 ? withNulls(before) : before;
    // OME-Zarr says the same in other words: test/interop/python-ome.test.ts has others read them.
    if (!url.includes("ome-ngff")) {
      expect(withoutMissing(await described(there)), there).toEqual(
        withoutMissing(expected as typeof before),
      );
    }
    expect(await described(back), back).toEqual(expected);
    for (const target of [there, back]) expect(await references(target), target).toEqual(named);
  });
});

describe.runIf(hasShared)("a slice of a dataset", () => {
  test.each(urls.filter((url) => url.includes("cf-xarray")))("%s", async (url) => {
    await sliceTo(url, part, { slice: { time: [1, 4], lat: 0 } });
    expect(await described(part)).toEqual(await described(url));
    expect(await references(part)).toEqual(await references(url));
    const lengths = new Map<string, number>();
    for await (const node of walk(await openGroup(part))) {
      if (node.kind === "group") continue;
      for (const [d, name] of (node.dimensionNames ?? []).entries()) {
        if (name !== null) lengths.set(name, node.shape[d] ?? -1);
        if (name === "time") expect(node.shape[d], node.path).toBe(3);
        if (name === "lat") expect(node.shape[d], node.path).toBe(1);
      }
    }
    expect([...lengths.keys()]).toEqual(expect.arrayContaining(["time", "lat", "lon"]));
  });
});

test.runIf(hasShared)("what is named is there, but where the writer left it out", async () => {
  const missing: string[] = [];
  let there = 0;
  for (const url of urls) {
    for (const [reference, path] of Object.entries(await references(url))) {
      if (path === null) missing.push(`${url.slice(url.lastIndexOf("/") + 1)}: ${reference}`);
      else there++;
    }
  }
  expect(missing).toEqual([]);
  expect(there).toBeGreaterThan(10);
});

/** Half of the first dimension for each array of a group. */
async function halves(url: string): Promise<string[]> {
  const options: string[] = [];
  for await (const node of walk(await openGroup(url))) {
    if (node.kind === "group" || node.shape.length === 0) continue;
    const [first = 1, ...rest] = node.shape;
    const sizes = [Math.max(1, Math.ceil(first / 2)), ...rest.map(() => 1)];
    const named = sizes.map((size, d) => `${node.dimensionNames?.[d]}=${size}`);
    const isNamed = node.dimensionNames?.every((name) => name !== null) ?? false;
    options.push(`${node.path}:${(isNamed ? named : sizes).join(",")}`);
  }
  return options;
}

/** What converting must be allowed to drop: NaN in attributes, which writers of Python leave there. */
async function lossesOf(url: string, to: "v2" | "v3"): Promise<string[]> {
  try {
    await convert(url, there, { to });
    return [];
  } catch (error) {
    if (!isZarrflowError(error, "loss-refused")) throw error;
    return [...error.details.pointers];
  } finally {
    nameMemoryStore("conventions-there", undefined);
  }
}

function withNulls(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return null;
  if (Array.isArray(value)) return value.map(withNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withNulls(inner)]));
}
