// @module-tag long
// @module-tag alone
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { open } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { buildZip } from "../stores/zip/build-zip.ts";
import { describePeaks, expectPeaks, MB, peakMemoryOfNode } from "./peak-memory.ts";

const folder = temporaryFolder();
const script = fileURLToPath(new URL("open-node.mjs", import.meta.url));
const openings: (() => void)[] = [];
afterAll(() => {
  for (const close of openings) close();
});

const BYTES = 28 * 2 ** 20;
/** What a process takes that opens a group without attributes. */
const base = peakMemoryOfNode(script, group("small", '{"a": 1}'));
base.catch(() => {});

function group(name: string, attributes: string | Buffer): string {
  const path = join(folder.path, name);
  mkdirSync(path);
  writeFileSync(join(path, ".zgroup"), '{"zarr_format": 2}');
  writeFileSync(join(path, ".zattrs"), attributes);
  return path;
}

/** As many copies of `item` as fill a document. */
function filled(open: string, item: string | ((i: number) => string), close: string, bytes = BYTES): string {
  const parts: string[] = [];
  for (let i = 0, size = 0; size < bytes; i++) {
    const text = typeof item === "string" ? item : item(i);
    parts.push(text);
    size += text.length + 1;
  }
  return `${open}${parts.join(",")}${close}`;
}

const NAMES = ["time", "lat", "lon"];
const attributesOf = (i: number) => ({ long_name: `variable ${i}`, units: "kg m-2 s-1" });

/** A `.zmetadata` of many arrays, as writers indent it. */
function consolidated(bytes: number): string {
  const array = {
    ...{ zarr_format: 2, shape: [8760, 721, 1440], chunks: [1, 180, 360], dtype: "<f4", fill_value: "NaN" },
    ...{
      order: "C",
      filters: null,
      compressor: { blocksize: 0, clevel: 5, cname: "lz4", id: "blosc", shuffle: 1 },
    },
  };
  const zarray = JSON.stringify(array, null, 4);
  const of = (i: number) => {
    const attributes = { _ARRAY_DIMENSIONS: NAMES, ...attributesOf(i) };
    return `"a${i}/.zarray":${zarray},"a${i}/.zattrs":${JSON.stringify(attributes, null, 4)}`;
  };
  return filled('{"zarr_consolidated_format":1,"metadata":{', of, "}}", bytes);
}

/** A `zarr.json` of a group that has many arrays consolidated. */
function consolidatedV3(bytes: number): string {
  const array = {
    ...{ zarr_format: 3, node_type: "array", shape: [8760, 721, 1440], data_type: "float32", fill_value: 0 },
    chunk_grid: { name: "regular", configuration: { chunk_shape: [1, 180, 360] } },
    chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
    codecs: [{ name: "bytes", configuration: { endian: "little" } }],
    dimension_names: NAMES,
  };
  const of = (i: number) => `"a${i}":${JSON.stringify({ ...array, attributes: attributesOf(i) }, null, 2)}`;
  const open = '{"zarr_format":3,"node_type":"group","attributes":{},"consolidated_metadata":{';
  return filled(`${open}"kind":"inline","must_understand":false,"metadata":{`, of, "}}}", bytes);
}

describePeaks("peak resident memory of a process that opens a group", () => {
  const shapes: Record<string, () => string> = {
    text: () => `{"a": "${"x".repeat(BYTES)}"}`,
    escapes: () => `{"a": "${"\\n".repeat(BYTES / 2)}"}`,
    strings: () => filled('{"a":[', '"abcdefghijklm"', "]}"),
    numbers: () => filled('{"a":[', (i) => `${(i + 1) / 7}`, "]}"),
    "tiny numbers": () => filled('{"a":[', "0", "]}"),
    "numbers in Python's words": () => filled('{"a":[', (i) => `${i % 1000}.0`, "]}"),
    "tiny lists": () => filled('{"a":[', "[]", "]}"),
    "lists of one list": () => filled('{"a":[', `${"[".repeat(500)}${"]".repeat(500)}`, "]}"),
    "tiny objects": () => filled('{"a":[', "{}", "]}"),
    "objects of all names": () => filled('{"a":[', (i) => `{"a${i}":1}`, "]}"),
    names: () => filled("{", (i) => `"k${i}":0`, "}"),
    "bare NaN": () => filled('{"a":[', "NaN", "]}"),
    "lines that end in an error": () => `${"\n".repeat(BYTES)}x`,
  };

  test.each(Object.entries(shapes))(
    "whose attributes are 28 MiB of %s: six times their text at most, whether read or refused",
    async (name, text) => {
      const path = group(name, text());
      const peak = (await base) + 6 * BYTES;
      await expectPeaks(`28 MiB of ${name}`, { peak }, () => peakMemoryOfNode(script, path));
    },
    600_000,
  );

  test.each([10e6, BYTES])(
    "with consolidated metadata of %d bytes: four times their text at most, and opens an array by them",
    async (bytes) => {
      const limit = { peak: (await base) + 4 * bytes };
      const v2 = group(`consolidated-${bytes}`, "{}");
      writeFileSync(join(v2, ".zmetadata"), consolidated(bytes));
      await expectPeaks(`${bytes} bytes of .zmetadata`, limit, () => peakMemoryOfNode(script, `${v2}/a7`));
      const v3 = join(folder.path, `consolidated-v3-${bytes}`);
      mkdirSync(v3);
      writeFileSync(join(v3, "zarr.json"), consolidatedV3(bytes));
      await expectPeaks(`${bytes} bytes of zarr.json`, limit, () => peakMemoryOfNode(script, `${v3}/a7`));
    },
    600_000,
  );

  const dense: Record<string, () => string> = {
    "tiny objects": () => filled('{"a":[', "{}", "]}", 10e6),
    "lists of one list": () => filled('{"a":[', `${"[".repeat(500)}${"]".repeat(500)}`, "]}", 10e6),
    "pairs of numbers": () => filled('{"a":[', (i) => `[${i % 180}.25,${i % 90}.5]`, "]}", 10e6),
    polygons: () =>
      filled('{"a":[', (i) => `[[${i / 7},${i / 9}],[${i / 11},${i / 13}],[${i / 17},0.5]]`, "]}", 10e6),
    "rows of numbers": () =>
      filled('{"a":[', (i) => `[${Array.from({ length: 50 }, (_, j) => (50 * i + j) / 7)}]`, "]}", 10e6),
    numbers: () => filled('{"a":[', (i) => `${(i + 1) / 7}`, "]}", 10e6),
    records: () => filled('{"a":[', (i) => `{"name":"n${i}","value":${i},"unit":"kelvin"}`, "]}", 10e6),
    names: () => filled("{", (i) => `"key_${i}":"value ${i}"`, "}", 10e6),
    strings: () => filled('{"a":[', (i) => `"${String(i).padStart(40, "x")}"`, "]}", 10e6),
    text: () => `{"a": "\u00e9${"x".repeat(10e6)}"}`,
  };

  test.each(Object.entries(dense))(
    "whose attributes are 10 MB of %s: six times their text at most, and read where larger documents are asked for",
    async (name, text) => {
      const path = group(`dense ${name}`, text());
      const peak = (await base) + 6 * 10e6;
      await expectPeaks(`10 MB of ${name}`, { peak }, () => peakMemoryOfNode(script, path));
      expect(await open(path, { maxMetadata: 2 ** 28 })).toMatchObject({ kind: "group" });
    },
    600_000,
  );

  test("whose attributes are larger than any: in a folder, a zip, and from a server without an end", async () => {
    const limit = { peak: (await base) + 48 * MB };
    const path = group("large", "");
    truncateSync(join(path, ".zattrs"), 240e6);
    await expectPeaks("a document of 240 MB", limit, () => peakMemoryOfNode(script, path));
    const zip = join(folder.path, "large.zip");
    const zgroup = { name: ".zgroup", value: Buffer.from('{"zarr_format": 2}') };
    writeFileSync(zip, buildZip([zgroup, { name: ".zattrs", method: 8, value: Buffer.alloc(240e6, "[") }]));
    await expectPeaks("one in a zip of 245 kB", limit, () => peakMemoryOfNode(script, zip));
    const url = await endless();
    await expectPeaks("one that does not end", { peak: limit.peak + 64 * MB }, () =>
      peakMemoryOfNode(script, url),
    );
  }, 600_000);
});

/** Serves a `.zgroup`, and attributes that never end, without telling their size. */
async function endless(): Promise<string> {
  const piece = Buffer.alloc(2 ** 16, " ");
  const send = (response: ServerResponse) => {
    while (response.write(piece));
    response.once("drain", () => send(response));
  };
  const server = createServer(({ url }, response) => {
    if (url?.endsWith("/.zgroup")) response.end('{"zarr_format": 2}');
    else if (url?.endsWith("/.zattrs")) send(response.writeHead(200));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  openings.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/large`;
}
