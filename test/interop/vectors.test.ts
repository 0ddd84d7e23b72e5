import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createPipeline } from "../../src/codecs/chain/codec-chain.ts";
import type { FixedData, VariableData } from "../../src/codecs/chunk-data.ts";
import type { ChunkSpec } from "../../src/codecs/codec.ts";
import { decodeBytes, encodeBytes } from "../../src/codecs/standalone.ts";
import { EXIT_CODES } from "../../src/index.ts";
import type { CodecConfig } from "../../src/meta/array-metadata.ts";
import { formatNamed } from "../../src/meta/formats.ts";
import { parseFillV1 } from "../../src/meta/v1/array.ts";
import { parseNumpyType } from "../../src/meta/v2/data-type.ts";
import { parseFillV2 } from "../../src/meta/v2/fill-value.ts";
import { parseV3DataType, plainV3Type } from "../../src/meta/v3/data-type.ts";
import { parseFillV3 } from "../../src/meta/v3/fill-value.ts";
import { parseDraftFill } from "../../src/meta/v3-draft/array.ts";
import { brokenDraftName } from "../../src/meta/v3-draft/layout.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { ListableStore, WritableStore } from "../../src/stores/store.ts";
import { plainBuffers } from "../../src/util/bytes.ts";
import { parseJson } from "../../src/util/json-parse.ts";
import type { JsonObject } from "../../src/util/json-value.ts";
import { coordsOf, product } from "../../src/util/shape.ts";
import { failureOf, SPEC_ITEMS } from "../spec/rows.ts";
import { testFolder } from "../support/cli.ts";
import { hasShared, shared } from "./shared.ts";

const DRAFT = "3-draft-2019";
const draft = formatNamed("v3-draft-2019");

const textOf = (name: string) => readFileSync(`${shared}corpus-legacy/vectors/${name}.json`, "utf8");
const vectors = <T>(name: string): T => JSON.parse(hasShared ? textOf(name) : "[]");
const page = (name: string) => readFileSync(`${shared}specs/${name}.md`, "utf8");
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

describe.runIf(hasShared)("the specifications' pages", () => {
  it.each(Object.entries(SPEC_ITEMS))("%s has the items that are tested", (name, items) => {
    const ids = [...page(name).matchAll(/^(?:- |### )([A-Z]\d*-\d+)\b/gm)].map(([, id]) => id);
    expect([...ids].sort()).toEqual([...items].sort());
  });

  it("have the codes and exit codes of the product, but for those of array jobs", () => {
    const rows = page("README").matchAll(/^\| (`[^|]*) \|[^|]*\| ([\d, ]+) \|$/gm);
    const table = [...rows].flatMap(([, names = "", exits = ""]) => {
      const numbers = exits.split(",").map(Number);
      return [...names.matchAll(/`([a-z-]+)`/g)].map(([, code], i) => [code, numbers[i] ?? numbers[0]]);
    });
    const { "task-count-missing": _count, "tasks-undone": _tasks, ...others } = EXIT_CODES;
    expect(Object.fromEntries(table)).toEqual(others);
  });
});

describe.runIf(hasShared)("tables of the draft of 2019", () => {
  it("node names are allowed, or refused", () => {
    const { [DRAFT]: names } =
      vectors<Record<string, { valid: string[]; invalid: [string, string][] }>>("node-names");
    for (const name of names?.valid ?? []) expect(brokenDraftName(name), name).toBeUndefined();
    for (const [name] of names?.invalid ?? []) expect(brokenDraftName(name), name).toBeDefined();
    expect(names?.invalid.length).toBeGreaterThan(5);
  });

  it("documents and chunks lie at the keys of the table", () => {
    type Row = { zarr_format: string; path: string | null; kind: string; index?: number[]; key: string };
    const rows = vectors<Row[]>("storage-keys").filter(({ zarr_format }) => zarr_format === DRAFT);
    for (const { path, kind, index = [], key } of rows) {
      const layout = draft.layout(path ?? "");
      const [array, group] = layout.documentKeys;
      const chunk = layout.chunkKey(index, { name: "plain", separator: "." });
      const [bootstrap] = layout.hierarchy.sharedKeys;
      expect({ array, group, chunk, bootstrap }[kind]).toBe(key);
    }
    expect(rows.length).toBeGreaterThan(5);
  });

  it("chunk keys are those of the table", () => {
    type Row = { zarr_format: string; separator: "." | "/"; index: number[]; key: string };
    const rows = vectors<Row[]>("chunk-keys").filter(({ zarr_format }) => zarr_format === DRAFT);
    for (const { separator, index, key } of rows) {
      expect(draft.layout("a").chunkKey(index, { name: "plain", separator })).toBe(`data/a/${key}`);
    }
    expect(rows.length).toBeGreaterThan(2);
  });

  interface Listing {
    readonly keys: string[];
    readonly op: string;
    readonly prefix: string;
    readonly result_keys: string[];
    readonly result_prefixes?: string[];
    readonly note?: string;
  }
  it.each(vectors<Listing[]>("store-ops"))(
    "listings are those of the table: $op $prefix of $keys",
    async ({ keys, op, prefix, note, ...result }) => {
      const stores: (ListableStore & WritableStore)[] = [new MemoryStore()];
      if (!note?.includes("file system")) stores.push(new DirectoryStore(await testFolder()));
      for (const store of stores) {
        for (const key of keys) await store.set(key, Uint8Array.of(1));
        const found = { keys: [] as string[], prefixes: [] as string[] };
        for await (const entry of op === "list_dir" ? store.listDirectory(prefix) : store.list(prefix)) {
          if ("prefix" in entry) found.prefixes.push(entry.prefix);
          else found.keys.push(entry.key);
        }
        expect(found).toEqual({ keys: result.result_keys, prefixes: result.result_prefixes ?? [] });
      }
    },
  );
});

const FILLS: Readonly<Record<string, (...of: Parameters<typeof parseFillV3>) => Uint8Array | null>> = {
  "1": parseFillV1,
  "2": parseFillV2,
  "3": parseFillV3,
  [DRAFT]: (fill, dataType) => parseDraftFill(fill, dataType, ""),
};

it.runIf(hasShared).each(Object.entries(FILLS))(
  "fill values are read, or refused, as in the table: %s",
  async (format, parseFill) => {
    const lenient = { allowNonFinite: () => true };
    const all = parseJson(Buffer.from(textOf("fill-values")), lenient) as unknown as JsonObject[];
    const rows = all.filter(({ zarr_formats }) => (zarr_formats as string[]).includes(format));
    for (const row of rows) {
      const [name, text] = [String(row.dtype), row.json_text];
      const json = typeof text === "string" ? parseJson(Buffer.from(text), lenient) : (row.json ?? null);
      const parseType = format === "3" ? parseV3DataType : parseNumpyType;
      const dataType = plainV3Type(name) ?? parseType(name, "").dataType;
      const parse = () => parseFill(json, dataType, "little", "");
      if (row.error) expect((await failureOf(parse)).code, JSON.stringify(row)).toBe(row.error);
      else expect(hexOf(parse() ?? new Uint8Array()), JSON.stringify(row)).toBe(row.le_hex);
    }
    expect(rows.length).toBeGreaterThan(10);
  },
);

interface Vector {
  readonly codec: string;
  readonly config?: Record<string, unknown>;
  readonly decoded_hex?: string;
  readonly decoded_sha256?: string;
  readonly encoded_hex: string;
  readonly order?: number[];
  readonly shape?: number[];
  readonly values?: string[];
}

describe.runIf(hasShared)("codec vectors", () => {
  const codecs = vectors<Vector[]>("codecs");

  const plain = codecs.filter(({ codec }) => ["crc32c", "delta", "blosc"].includes(codec));
  it.each(plain)("$codec $config", async ({ codec, config, encoded_hex, decoded_hex, decoded_sha256 }) => {
    const json = { id: codec, ...config };
    const decoded = await decodeBytes(json, Buffer.from(encoded_hex, "hex"));
    if (decoded_sha256) expect(createHash("sha256").update(decoded).digest("hex")).toBe(decoded_sha256);
    if (decoded_hex === undefined) return;
    expect(hexOf(decoded)).toBe(decoded_hex);
    expect(hexOf(await encodeBytes(json, decoded))).toBe(encoded_hex);
  });

  const transposes = codecs.filter(({ codec }) => codec === "transpose");
  it.each(transposes)(
    "transpose $order",
    async ({ order = [], shape = [], decoded_hex = "", encoded_hex }) => {
      const size = decoded_hex.length / 2 / product(shape);
      const list = [transpose(order), { name: "bytes", configuration: {} }];
      const pipeline = await createPipeline(list, {
        shape,
        dataType: { kind: "raw", size },
        fillValue: null,
      });
      const data = (await pipeline.decode(Buffer.from(encoded_hex, "hex"), plainBuffers)) as FixedData;
      expect(hexOf(inCOrder(data))).toBe(decoded_hex);
      expect(hexOf(await pipeline.encode({ ...data, bytes: data.bytes.slice() }, plainBuffers))).toBe(
        encoded_hex,
      );
    },
  );

  const strings = codecs.filter(({ values }) => values);
  it.each(strings)("$codec of $values", async ({ codec, values = [], encoded_hex }) => {
    const spec: ChunkSpec = { shape: [values.length], dataType: { kind: "string" }, fillValue: null };
    const pipeline = await createPipeline([{ name: codec.replace(" string", ""), configuration: {} }], spec);
    const data = (await pipeline.decode(Buffer.from(encoded_hex, "hex"), plainBuffers)) as VariableData;
    const items = values.map((_, i) => data.bytes.subarray(data.offsets[i], data.offsets[i + 1]));
    expect(items.map((item) => Buffer.from(item).toString())).toEqual(values);
    expect(hexOf(await pipeline.encode(data, plainBuffers))).toBe(encoded_hex);
  });
});

const transpose = (order: number[]): CodecConfig => ({ name: "transpose", configuration: { order } });

function inCOrder({ bytes, itemSize, shape, strides }: FixedData): Uint8Array {
  const items = [...coordsOf(shape)].map((coords) => {
    const from = coords.reduce((sum, c, d) => sum + c * (strides[d] ?? 0), 0) * itemSize;
    return bytes.subarray(from, from + itemSize);
  });
  return Buffer.concat(items);
}
