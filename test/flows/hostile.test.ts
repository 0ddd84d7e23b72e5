// @module-tag slow
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  convert,
  copy,
  digest,
  type ErrorCode,
  info,
  isZarrflowError,
  open,
  openArray,
  rechunk,
  slice,
  tree,
  validate,
  writeRegion,
  type ZarrArray,
} from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions, Store } from "../../src/stores/store.ts";
import { BOOTSTRAP, DRAFT_ARRAY } from "../hierarchy/draft-stores.ts";
import { all, drain } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";

const common = { shape: [4], chunks: [2], fill_value: 7, order: "C", dtype: "|u1" };
const META = { ...common, zarr_format: 1, compression: "none", compression_opts: null };
const ZARRAY = { ...common, zarr_format: 2, compressor: null, filters: null };
const regular = (chunk_shape: unknown) => ({ name: "regular", configuration: { chunk_shape } });
const ZARR_JSON = {
  ...{ zarr_format: 3, node_type: "array", shape: [4], data_type: "uint8", fill_value: 7 },
  ...{ chunk_grid: regular([2]), chunk_key_encoding: { name: "default" }, codecs: [{ name: "bytes" }] },
};
const DRAFT = { ...DRAFT_ARRAY, shape: [4], data_type: "u1" };

/** Documents by key, as objects or as text, and what else is stored. */
type Content = Readonly<Record<string, object | string>>;
interface Grid {
  readonly shape: readonly number[];
  readonly chunks: readonly number[];
}

/** An array of each format, of another shape than usual. */
const FORMATS: Readonly<Record<string, (grid: Grid) => Content>> = {
  v1: (grid) => ({ meta: { ...META, ...grid }, attrs: {} }),
  v2: (grid) => ({ ".zarray": { ...ZARRAY, ...grid } }),
  v3: ({ shape, chunks }) => ({ "zarr.json": { ...ZARR_JSON, shape, chunk_grid: regular(chunks) } }),
  "v3-draft-2019": ({ shape, chunks: chunk_shape }) => ({
    "zarr.json": BOOTSTRAP,
    "meta/root.array": { ...DRAFT, shape, chunk_grid: { type: "regular", chunk_shape } },
  }),
};

const FROM = "memory:hostile";
const TO = "memory:hostile-target";

/** A store of these documents, which `FROM` then names. */
async function storeOf(content: Content): Promise<MemoryStore> {
  const store = await givenKeys(content);
  nameMemoryStore("hostile", store);
  return store;
}

/** The code of the error that `run` ends with; undefined where it ends without. */
async function codeOf(run: () => unknown): Promise<ErrorCode | undefined> {
  try {
    const result = await run();
    if (result && typeof result === "object" && Symbol.asyncIterator in result)
      await drain(result as AsyncIterable<unknown>);
    return undefined;
  } catch (error) {
    if (isZarrflowError(error)) return error.code;
    throw error;
  }
}

/** The code of opening, or of reading, an array of these documents. */
async function openCode(content: Content): Promise<ErrorCode | undefined> {
  await storeOf(content);
  return codeOf(() => open(FROM));
}
async function readCode(content: Content): Promise<ErrorCode | undefined> {
  await storeOf(content);
  return codeOf(async () => slice(await openArray(FROM)).read());
}

const itemsAt = async (...of: Parameters<typeof slice>) => [...(await slice(...of).read()).data];

/** A copy or a conversion of the source; returns its URL. */
async function copied(how: "copy" | "convert"): Promise<string> {
  nameMemoryStore("hostile-target", undefined);
  const { layout } = await open(FROM);
  if (how === "copy") await copy(FROM, TO);
  else await convert(FROM, TO, { to: layout.zarrFormat === "v3" ? "v2" : "v3" });
  return TO;
}

// No test leaves its stores to the next one, or a prototype that it changed.
const forget = () => {
  for (const name of ["hostile", "hostile-target"]) nameMemoryStore(name, undefined);
};
beforeEach(forget);
afterEach(() => {
  forget();
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
});

test("100,000 codecs are refused", async () => {
  const filters = Array(100_000).fill({ id: "zlib", level: 1 });
  const codecs = [{ name: "bytes" }, ...Array(100_000).fill({ name: "crc32c" })];
  expect(await openCode({ ".zarray": { ...ZARRAY, filters } })).toBe("resource-limit");
  expect(await openCode({ "zarr.json": { ...ZARR_JSON, codecs } })).toBe("resource-limit");
});

describe("documents that are nested 200,000 deep", () => {
  const lists = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const objects = `${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`;
  const placed = (document: object, name: string, text: string) =>
    JSON.stringify({ ...document, [name]: "HERE" }).replace('"HERE"', text);

  test.each([
    ["v1 meta", { meta: placed(META, "compression_opts", lists) }],
    ["v1 attrs", { meta: META, attrs: `{"a": ${objects}}` }],
    ["v2 .zarray", { ".zarray": placed(ZARRAY, "filters", lists) }],
    ["v2 dtype", { ".zarray": placed(ZARRAY, "dtype", lists) }],
    ["v2 .zattrs", { ".zarray": ZARRAY, ".zattrs": `{"a": ${objects}}` }],
    ["v2 .zmetadata", { ".zmetadata": `{"zarr_consolidated_format": 1, "metadata": ${objects}}` }],
    ["v3 attributes", { "zarr.json": placed(ZARR_JSON, "attributes", objects) }],
    ["v3 codecs", { "zarr.json": placed(ZARR_JSON, "codecs", lists) }],
    ["v3 no object", { "zarr.json": lists }],
    ["2019 array", { "zarr.json": BOOTSTRAP, "meta/root.array": placed(DRAFT, "compressor", objects) }],
    ["2019 bootstrap", { "zarr.json": placed(BOOTSTRAP, "extensions", lists) }],
  ])("%s", async (_, content) => {
    expect(await openCode(content)).toBe("resource-limit");
  });

  test("types and shards within what JSON may nest", async () => {
    const deep = (levels: number, wrap: (inner: unknown) => unknown, core: unknown) => {
      let value = core;
      for (let i = 0; i < levels; i++) value = wrap(value);
      return value;
    };
    const dtype = deep(400, (inner) => [["f", inner]], "|u1");
    const fields = (data_type: unknown) => ({
      ...{ name: "struct", configuration: { fields: [{ name: "f", data_type }] } },
    });
    const data_type = deep(200, fields, "uint8");
    const codecs = [deep(200, (inner) => sharding(2, inner), { name: "bytes" })];
    expect(await readCode({ ".zarray": { ...ZARRAY, dtype, fill_value: null } })).toBe(undefined);
    expect(await readCode({ "zarr.json": { ...ZARR_JSON, data_type } })).toBe("invalid-metadata");
    expect(await readCode({ "zarr.json": { ...ZARR_JSON, codecs } })).toBe("resource-limit");
  });
});

/** A sharding codec whose inner chunks have one codec. */
function sharding(chunk: number, inner: unknown) {
  const index_codecs = [{ name: "bytes", configuration: { endian: "little" } }];
  return { name: "sharding_indexed", configuration: { chunk_shape: [chunk], codecs: [inner], index_codecs } };
}

describe("documents that are huge", () => {
  test("above the limit they are not even decoded", async () => {
    const document = new Uint8Array(2 ** 28 + 1).fill(0x20, 0, 1);
    const get = async (key: string) => (key === ".zarray" ? document : undefined);
    const store: Store = { description: "one huge value", get, size: async () => undefined };
    expect(await codeOf(() => open(store))).toBe("resource-limit");
  });

  test("numbers of a million digits, or with huge exponents, are no work", async () => {
    const digits = "9".repeat(1_000_000);
    const zarrayWith = (members: string) => ({
      ".zarray": JSON.stringify(ZARRAY).replace("}", `,${members}}`),
    });
    await storeOf({ ".zarray": ZARRAY, ".zattrs": `{"n": ${digits}, "e": 1e999999999}` });
    const { attributes } = await open(FROM);
    expect(attributes).toEqual({ n: Number.POSITIVE_INFINITY, e: Number.POSITIVE_INFINITY });
    for (const member of ["shape", "chunks"])
      for (const token of [digits, "1e999999999", "-1", "0.5", "9007199254740992"]) {
        const code = await openCode(zarrayWith(`"${member}": [${token}]`));
        expect(code, `${member} ${token.slice(0, 20)}`).toBe("invalid-metadata");
      }
    for (const token of [digits, "1e999999999", "1e-999999999"]) {
      const typed = (dtype: string) => zarrayWith(`"dtype": "${dtype}", "fill_value": ${token}`);
      expect(await openCode(typed("<i8"))).toBe("invalid-metadata");
      expect(await openCode(typed("<f8"))).toBe(undefined);
    }
  });

  test("100,000 attributes and fields, and 10,000 codecs, are no work", async () => {
    const many = Array.from({ length: 100_000 }, (_, i) => i);
    const attributes = Object.fromEntries(many.map((i) => [`a${i}`, i]));
    await storeOf({ "zarr.json": { ...ZARR_JSON, attributes } });
    expect(Object.keys((await open(FROM)).attributes)).toHaveLength(100_000);
    const dtype = many.map((i) => [`f${i}`, "|u1"]);
    expect(await openCode({ ".zarray": { ...ZARRAY, dtype, fill_value: null } })).toBe(undefined);
    const filters = many.slice(0, 10_000).map(() => ({ id: "shuffle", elementsize: 1 }));
    await storeOf({ ".zarray": { ...ZARRAY, filters } });
    expect(await itemsAt(FROM)).toEqual([7, 7, 7, 7]);
  });
});

describe.each(Object.entries(FORMATS))("shapes of %s", (_, arrayOf) => {
  test("above 64 dimensions they are refused", async () => {
    for (const length of [65, 100_000]) {
      const shape = Array.from({ length }, () => 1);
      expect(await openCode(arrayOf({ shape, chunks: shape }))).toBe("resource-limit");
    }
  });

  test("with 64 dimensions a corner is read", async () => {
    const shape = Array.from({ length: 64 }, () => Number.MAX_SAFE_INTEGER);
    await storeOf(arrayOf({ shape, chunks: shape.map(() => 1) }));
    expect(
      await itemsAt(
        FROM,
        shape.map((): [number, number] => [0, 1]),
      ),
    ).toEqual([7]);
    expect(await codeOf(() => digest(FROM))).toBe("resource-limit");
  });

  test("whose items and chunks nobody can count are looked at, copied, and else refused", async () => {
    const side = 2 ** 40;
    const shape = [side, side];
    const store = await storeOf(arrayOf({ shape, chunks: [1, 2] }));
    await store.set((await openArray(FROM)).chunkKey([3, 0]), Uint8Array.of(1, 2));
    expect(await all(info(FROM))).toMatchObject([{ chunks: side * (side / 2), chunksPresent: 1 }]);
    expect(await all(tree(FROM))).toMatchObject([{ kind: "array", shape }]);
    for await (const { level } of validate(FROM, { deep: true })) expect(level).not.toBe("error");
    for (const url of [FROM, await copied("copy"), await copied("convert")])
      expect(await itemsAt(url, "2:4,0:3"), url).toEqual([7, 7, 7, 1, 2, 7]);
    nameMemoryStore("hostile-target", undefined);
    for (const run of [
      () => rechunk(FROM, TO, { chunks: [2, 2] }),
      () => rechunk(FROM, TO, { chunks: [1, 2], codec: "zlib:1" }),
      () => digest(FROM),
      () => slice(FROM).bytes(),
      () => slice(FROM, "::3,::3").bytes(),
      () => slice(FROM).read(),
    ])
      expect(await codeOf(run), String(run)).toBe("resource-limit");
  });

  test("with chunks, or items, of 2 GiB and more are refused before anything is allocated", async () => {
    for (const shape of [[2 ** 31], [2 ** 50], [2 ** 20, 2 ** 20, 2 ** 20]]) {
      await storeOf(arrayOf({ shape, chunks: shape }));
      expect(
        await codeOf(() =>
          slice(
            FROM,
            shape.map(() => 0),
          ).read(),
        ),
      ).toBe("resource-limit");
      expect(await codeOf(() => digest(FROM))).toBe("resource-limit");
    }
  });
});

test.each([
  [1, 2 ** 40, 2 ** 40, "resource-limit", "budget-too-small", "resource-limit"],
  [2 ** 3, 2 ** 50, 2 ** 33, "resource-limit", "budget-too-small", "resource-limit"],
  [2 ** 10, 2 ** 52, 2 ** 20, undefined, "resource-limit", "corrupt-chunk"],
] as const)(
  "more chunks in shards than anybody can count are copied, and else refused: of %d, in %d of %d",
  async (inner, shape, shard, corner, conversion, short) => {
    const codecs = [sharding(inner, { name: "bytes" })];
    const document = { ...ZARR_JSON, shape: [shape], chunk_grid: regular([shard]), codecs };
    const store = await storeOf({ "zarr.json": document });
    const cornerOf = (url: string) => codeOf(() => slice(url, [[0, 2]]).read());
    for (const url of [FROM, await copied("copy")]) expect(await cornerOf(url)).toBe(corner);
    expect(await codeOf(() => copied("convert"))).toBe(conversion);
    expect(await codeOf(() => digest(FROM))).toBe("resource-limit");
    await store.set("c/0", new Uint8Array(64));
    expect(await cornerOf(FROM)).toBe(short);
    expect(await all(tree(FROM))).toMatchObject([{ kind: "array" }]);
    await drain(validate(FROM, { deep: true }));
  },
);

test.each([
  [".zarray", "|V99999999999"],
  [".zarray", "<U4294967296"],
  [".zarray", "|S9007199254740993"],
  [".zarray", ["a", "b"].map((name) => [name, "|V2147483647"])],
  [".zarray", [["a", "<f8", [2 ** 20, 2 ** 20, 2 ** 20]]]],
  ["meta", "|S99999999999"],
  ["zarr.json", "r99999999999999"],
  ["zarr.json", `r${"8".repeat(400)}`],
  ["zarr.json", { name: "raw_bytes", configuration: { length_bytes: 2 ** 40 } }],
  ["zarr.json", { name: "fixed_length_utf32", configuration: { length_bytes: 2 ** 40 } }],
])("items of a huge size are refused: %s %j", async (key, type) => {
  const ofType = { dtype: type, fill_value: null };
  const documents: Content = {
    ...{ ".zarray": { ...ZARRAY, ...ofType }, meta: { ...META, ...ofType } },
    "zarr.json": { ...ZARR_JSON, data_type: type },
  };
  const isRaw = typeof type === "string" && /^r[0-9]+$/.test(type);
  const expected = isRaw ? "unsupported-data-type" : "resource-limit";
  expect(await readCode({ [key]: documents[key] ?? {} })).toBe(expected);
});

describe("names", () => {
  test("of two equal ones the last wins", async () => {
    const text = JSON.stringify(ZARRAY).replace('"shape":[4]', '"shape":[4],"shape":[2]');
    await storeOf({ ".zarray": text, ".zattrs": '{"a": 1, "b": 2, "a": 3}' });
    expect(await openArray(FROM)).toMatchObject({ shape: [2], attributes: { a: 3, b: 2 } });
  });

  describe.each(["__proto__", "constructor", "prototype", "hasOwnProperty", "toString", "valueOf"])(
    "%s",
    (name) => {
      const polluting = `{"polluted": true}`;
      const member = `"${name}": ${polluting}`;

      test("in attributes is data, also in what is copied and converted", async () => {
        await storeOf({ ".zarray": ZARRAY, ".zattrs": `{${member}, "a": {"${name}": 1}}` });
        const textOf = ({ attributes }: ZarrArray) => JSON.stringify(attributes);
        const { attributes } = await openArray(FROM);
        expect(Object.getPrototypeOf(attributes)).toBe(Object.prototype);
        for (const url of [FROM, await copied("copy"), await copied("convert")])
          expect(textOf(await openArray(url))).toBe(`{"${name}":{"polluted":true},"a":{"${name}":1}}`);
      });

      test("as a member of documents and codecs stands for nothing", async () => {
        const zarray = JSON.stringify({ ...ZARRAY, compressor: { id: "zlib" } });
        await storeOf({ ".zarray": zarray.replace("{", `{${member},`).replace('{"id"', `{${member},"id"`) });
        expect(await itemsAt(FROM)).toEqual([7, 7, 7, 7]);
        expect((await openArray(FROM)).findings.length).toBeGreaterThan(0);
        const codecs = [{ name: "bytes" }, { name: "gzip", configuration: { level: 1 } }];
        const json = JSON.stringify({ ...ZARR_JSON, codecs });
        await storeOf({ "zarr.json": json.replace('{"level"', `{${member},"level"`) });
        expect(await itemsAt(FROM)).toEqual([7, 7, 7, 7]);
        expect(await openCode({ "zarr.json": json.replace("{", `{${member},`) })).toBe(
          "unsupported-extension",
        );
        // nor does it lend what is in it
        const { shape: _, ...rest } = ZARRAY;
        const text = JSON.stringify(rest).replace("{", `{"${name}": {"shape": [4]},`);
        expect(await openCode({ ".zarray": text })).toBe("invalid-metadata");
      });

      test("is no codec, no type, no grid and no key encoding", async () => {
        const bytes = { name: "bytes" };
        for (const [key, members, expected] of [
          [".zarray", { compressor: { id: name } }, "unsupported-codec"],
          [".zarray", { filters: [{ id: name }] }, "unsupported-codec"],
          [".zarray", { dtype: name }, "unsupported-data-type"],
          ["meta", { compression: name }, "unsupported-codec"],
          ["zarr.json", { data_type: name }, "unsupported-data-type"],
          ["zarr.json", { data_type: { name, configuration: {} } }, "unsupported-data-type"],
          ["zarr.json", { codecs: [bytes, { name }] }, "unsupported-codec"],
          ["zarr.json", { codecs: [bytes, { name: `numcodecs.${name}` }] }, "unsupported-codec"],
          ["zarr.json", { chunk_grid: { ...regular([2]), name } }, "unsupported-extension"],
          ["zarr.json", { chunk_key_encoding: { name } }, "unsupported-extension"],
        ] as const) {
          const usual = { ".zarray": ZARRAY, meta: META, "zarr.json": ZARR_JSON }[key];
          expect(await readCode({ [key]: { ...usual, ...members } }), JSON.stringify(members)).toBe(expected);
        }
      });

      test("is a node and a dimension like any other", async () => {
        const attributes = { _ARRAY_DIMENSIONS: [name] };
        const documents = { [`${name}/.zarray`]: ZARRAY, [`${name}/.zattrs`]: attributes };
        await storeOf({ ".zgroup": { zarr_format: 2 }, ...documents });
        expect((await all(tree(FROM))).map(({ path }) => path)).toEqual(["", name]);
        await copy(FROM, TO);
        expect(await itemsAt(`${TO}/${name}`, JSON.parse(`{"${name}": [1, 3]}`))).toEqual([7, 7]);
      });
    },
  );

  test("in consolidated metadata are data", async () => {
    const metadata = `{".zgroup": {"zarr_format": 2}, "__proto__/.zarray": ${JSON.stringify(ZARRAY)}}`;
    const listed = await storeOf({
      ".zmetadata": `{"zarr_consolidated_format": 1, "metadata": ${metadata}}`,
    });
    const [get, size] = [listed.get.bind(listed), listed.size.bind(listed)];
    const store: Store = { description: "no listing", get, size };
    expect(await itemsAt(await openArray({ store, path: "__proto__" }))).toEqual([7, 7, 7, 7]);
  });
});

describe("a stored chunk far larger than its codecs can explain", () => {
  /** Says of every chunk that it is huge, and counts what it is given for it. */
  class BombStore extends MemoryStore {
    allocated = 0;

    override async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
      if (key.startsWith(".z") || key === "zarr.json" || key === "meta") return super.get(key, options);
      const bytes = options.allocate?.(1e9) ?? new Uint8Array(1e9);
      this.allocated += bytes.length;
      return bytes;
    }
  }

  test.each([
    ["without codecs", ZARRAY],
    ["compressed", { ...ZARRAY, compressor: { id: "zlib", level: 1 } }],
    ["filtered", { ...ZARRAY, filters: [{ id: "shuffle", elementsize: 1 }] }],
  ])("is not read, %s", async (_, zarray) => {
    const store = new BombStore();
    await givenKeys({ ".zarray": zarray, 0: Uint8Array.of(1, 2) }, store);
    const array = await openArray({ store, path: "" });
    nameMemoryStore("hostile", store);
    for (const run of [
      () => slice(array).read(),
      () => slice(array).chunks(),
      () => slice(array).bytes(),
      () => digest(array),
      () => rechunk(array, TO, { chunks: [3] }),
      () => writeRegion(array, [[1, 3]], Uint8Array.of(1, 2)),
    ])
      expect(await codeOf(run), String(run)).toBe("resource-limit");
    const findings = (await all(validate(array, { deep: true }))).map(({ message }) => message);
    expect(findings.join()).toContain("larger than its metadata allow");
    expect(store.allocated).toBe(0);
  });

  test("items of varying size may be larger than anybody expected", async () => {
    const texts = ["a", "b", "c", "d"].map((letter) => letter.repeat(200_000));
    const u32 = (value: number) => new Uint8Array(Uint32Array.of(value).buffer);
    const chunkOf = (items: readonly string[]) =>
      Buffer.concat([u32(items.length), ...items.flatMap((item) => [u32(item.length), Buffer.from(item)])]);
    const zarray = { ...ZARRAY, dtype: "|O", filters: [{ id: "vlen-utf8" }], fill_value: "" };
    await storeOf({ ".zarray": zarray, "0": chunkOf(texts.slice(0, 2)), "1": chunkOf(texts.slice(2)) });
    expect(await itemsAt(FROM)).toEqual(texts);
    await rechunk(FROM, TO, { chunks: [3] });
    expect(await itemsAt(TO)).toEqual(texts);
  });
});
