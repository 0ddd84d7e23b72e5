// @module-tag slow
import { describe, expect, test } from "vitest";
import {
  convert,
  copy,
  digest,
  info,
  open,
  openArray,
  rechunk,
  slice,
  tree,
  validate,
  type ZarrArray,
} from "../../src/index.ts";
import { nameMemoryStore } from "../../src/stores/memory.ts";
import type { Store } from "../../src/stores/store.ts";
import { all } from "../support/consume.ts";
import {
  BOOTSTRAP,
  type Content,
  codeOf,
  DRAFT_ARRAY,
  FROM,
  META,
  storeOf,
  TO,
  withoutLeftStores,
  ZARR_JSON,
  ZARRAY,
  zarrFormats,
} from "./hostile-documents.ts";

withoutLeftStores();

test.each([
  ["v2 filters", { ".zarray": { ...ZARRAY, filters: Array(100_000).fill({ id: "zlib", level: 1 }) } }],
  [
    "v3 codecs",
    {
      "zarr.json": { ...ZARR_JSON, codecs: [{ name: "bytes" }, ...Array(100_000).fill({ name: "crc32c" })] },
    },
  ],
] satisfies [string, Content][])("100,000 %s are refused", async (_, content) => {
  await storeOf(content);
  expect(await codeOf(() => open(FROM))).toBe("resource-limit");
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
    ["2019 array", { "zarr.json": BOOTSTRAP, "meta/root.array": placed(DRAFT_ARRAY, "compressor", objects) }],
    ["2019 bootstrap", { "zarr.json": placed(BOOTSTRAP, "extensions", lists) }],
  ])("%s", async (_, content) => {
    await storeOf(content);
    expect(await codeOf(() => open(FROM))).toBe("resource-limit");
  });

  test("types and shards within what JSON may nest", async () => {
    const deep = (levels: number, wrap: (inner: unknown) => unknown, core: unknown) => {
      let value = core;
      for (let i = 0; i < levels; i++) value = wrap(value);
      return value;
    };
    const dtype = deep(400, (inner) => [["f", inner]], "|u1");
    const fields = (inner: unknown) => ({
      name: "struct",
      configuration: { fields: [{ name: "f", data_type: inner }] },
    });
    const shard = (inner: unknown) => ({
      name: "sharding_indexed",
      configuration: {
        chunk_shape: [2],
        codecs: [inner],
        index_codecs: [{ name: "bytes", configuration: { endian: "little" } }],
      },
    });
    const contents: readonly [Content, string | undefined][] = [
      [{ ".zarray": { ...ZARRAY, dtype, fill_value: null } }, undefined],
      [{ "zarr.json": { ...ZARR_JSON, data_type: deep(200, fields, "uint8") } }, "invalid-metadata"],
      [{ "zarr.json": { ...ZARR_JSON, codecs: [deep(200, shard, { name: "bytes" })] } }, "resource-limit"],
    ];
    for (const [content, expected] of contents) {
      await storeOf(content);
      expect(await codeOf(async () => slice(await openArray(FROM)).read())).toBe(expected);
    }
  });
});

describe("documents that are huge", () => {
  test("above the limit they are not even decoded", async () => {
    const document = new Uint8Array(2 ** 28 + 1).fill(0x20, 0, 1);
    const store: Store = {
      description: "one huge value",
      get: async (key) => (key === ".zarray" ? document : undefined),
      size: async () => undefined,
    };
    expect(await codeOf(() => open(store))).toBe("resource-limit");
  });

  test("numbers of a million digits, or with huge exponents, are no work", async () => {
    const digits = "9".repeat(1_000_000);
    const big = JSON.stringify({ ...ZARRAY }).slice(0, -1);
    await storeOf({ ".zarray": ZARRAY, ".zattrs": `{"n": ${digits}, "e": 1e999999999}` });
    const { attributes } = await open(FROM);
    expect(attributes).toEqual({ n: Number.POSITIVE_INFINITY, e: Number.POSITIVE_INFINITY });
    for (const member of ["shape", "chunks"]) {
      for (const token of [digits, "1e999999999", "-1", "0.5", "9007199254740992"]) {
        await storeOf({ ".zarray": `${big}, "${member}": [${token}]}` });
        expect(await codeOf(() => open(FROM)), `${member} ${token.slice(0, 20)}`).toBe("invalid-metadata");
      }
    }
    for (const [dtype, expected] of [
      ["<i8", "invalid-metadata"],
      ["<f8", undefined],
    ]) {
      for (const token of [digits, "1e999999999", "1e-999999999"]) {
        await storeOf({ ".zarray": `${big}, "dtype": "${dtype}", "fill_value": ${token}}` });
        expect(await codeOf(() => open(FROM))).toBe(expected);
      }
    }
  });

  test("100,000 attributes and fields, and 10,000 codecs, are no work", async () => {
    const many = Array.from({ length: 100_000 }, (_, i) => i);
    const attributes = Object.fromEntries(many.map((i) => [`a${i}`, i]));
    await storeOf({ "zarr.json": { ...ZARR_JSON, attributes } });
    expect(Object.keys((await open(FROM)).attributes)).toHaveLength(100_000);
    await storeOf({ ".zarray": { ...ZARRAY, dtype: many.map((i) => [`f${i}`, "|u1"]), fill_value: null } });
    expect(await codeOf(() => open(FROM))).toBe(undefined);
    const filters = many.slice(0, 10_000).map(() => ({ id: "shuffle", elementsize: 1 }));
    await storeOf({ ".zarray": { ...ZARRAY, filters } });
    expect([...(await slice(FROM).read()).data]).toEqual([7, 7, 7, 7]);
  });
});

describe.each(zarrFormats)("shapes of %s", (_, arrayOf) => {
  test("above 64 dimensions they are refused", async () => {
    for (const rank of [65, 100_000]) {
      const ones = Array.from({ length: rank }, () => 1);
      await storeOf(arrayOf({ shape: ones, chunks: ones }));
      expect(await codeOf(() => open(FROM))).toBe("resource-limit");
    }
  });

  test("with 64 dimensions a corner is read", async () => {
    const shape = Array.from({ length: 64 }, () => Number.MAX_SAFE_INTEGER);
    await storeOf(arrayOf({ shape, chunks: shape.map(() => 1) }));
    const corner = await slice(
      FROM,
      shape.map((): [number, number] => [0, 1]),
    ).read();
    expect([...corner.data]).toEqual([7]);
    expect(await codeOf(() => digest(FROM))).toBe("resource-limit");
  });

  test("whose items and chunks nobody can count are looked at, copied, and else refused", async () => {
    const side = 2 ** 40;
    const shape = [side, side];
    const store = await storeOf(arrayOf({ shape, chunks: [1, 2] }));
    const array = await openArray(FROM);
    await store.set(array.chunkKey([3, 0]), Uint8Array.of(1, 2));
    for await (const { chunks, chunksPresent } of info(FROM)) {
      expect({ chunks, chunksPresent }).toEqual({ chunks: side * (side / 2), chunksPresent: 1 });
    }
    for await (const node of tree(FROM)) expect(node).toMatchObject({ kind: "array", shape });
    for await (const { level } of validate(FROM, { deep: true })) expect(level).not.toBe("error");
    const corner = [
      [2, 4],
      [0, 3],
    ] as const;
    const found = async (url: string) => [...(await slice(url, corner).read()).data];
    expect(await found(FROM)).toEqual([7, 7, 7, 1, 2, 7]);
    expect(await found(await copied("copy"))).toEqual([7, 7, 7, 1, 2, 7]);
    expect(await found(await copied("convert"))).toEqual([7, 7, 7, 1, 2, 7]);
    nameMemoryStore("hostile-target", undefined);
    expect(await codeOf(() => rechunk(FROM, TO, { chunks: [2, 2] }))).toBe("resource-limit");
    expect(await codeOf(() => rechunk(FROM, TO, { chunks: [1, 2], codec: "zlib:1" }))).toBe("resource-limit");
    expect(await codeOf(() => digest(FROM))).toBe("resource-limit");
    expect(await codeOf(() => slice(FROM).bytes())).toBe("resource-limit");
    expect(
      await codeOf(() =>
        slice(FROM, [
          [0, side, 3],
          [0, side, 3],
        ]).bytes(),
      ),
    ).toBe("resource-limit");
    expect(await codeOf(() => slice(FROM).read())).toBe("resource-limit");
  });

  test("with chunks, or items, of 2 GiB and more are refused before anything is allocated", async () => {
    for (const members of [
      { shape: [2 ** 31], chunks: [2 ** 31] },
      { shape: [2 ** 50], chunks: [2 ** 50] },
      { shape: [2 ** 20, 2 ** 20, 2 ** 20], chunks: [2 ** 20, 2 ** 20, 2 ** 20] },
    ]) {
      await storeOf(arrayOf(members));
      expect(
        await codeOf(() =>
          slice(
            FROM,
            members.shape.map(() => 0),
          ).read(),
        ),
      ).toBe("resource-limit");
      expect(await codeOf(() => digest(FROM))).toBe("resource-limit");
    }
  });
});

test("shards of more chunks than anybody can count are copied, and else refused", async () => {
  const shards = (inner: number, shape: number, shard: number) => ({
    "zarr.json": {
      ...ZARR_JSON,
      shape: [shape],
      chunk_grid: { name: "regular", configuration: { chunk_shape: [shard] } },
      codecs: [
        {
          name: "sharding_indexed",
          configuration: {
            chunk_shape: [inner],
            codecs: [{ name: "bytes" }],
            index_codecs: [{ name: "bytes", configuration: { endian: "little" } }],
          },
        },
      ],
    },
  });
  for (const [inner, shape, shard, codes] of [
    [
      1,
      2 ** 40,
      2 ** 40,
      { corner: "resource-limit", conversion: "budget-too-small", short: "resource-limit" },
    ],
    [
      2 ** 3,
      2 ** 50,
      2 ** 33,
      { corner: "resource-limit", conversion: "budget-too-small", short: "resource-limit" },
    ],
    [2 ** 10, 2 ** 52, 2 ** 20, { corner: undefined, conversion: "resource-limit", short: "corrupt-chunk" }],
  ] as const) {
    const store = await storeOf(shards(inner, shape, shard));
    expect(await codeOf(() => slice(FROM, [[0, 2]]).read())).toBe(codes.corner);
    const copy = await copied("copy");
    expect(await codeOf(() => slice(copy, [[0, 2]]).read())).toBe(codes.corner);
    expect(await codeOf(() => copied("convert"))).toBe(codes.conversion);
    expect(await codeOf(() => digest(FROM))).toBe("resource-limit");
    await store.set("c/0", new Uint8Array(64));
    const code = await codeOf(() => slice(FROM, [[0, 2]]).read());
    expect(code).toBe(codes.short);
    for await (const node of tree(FROM)) expect(node.kind).toBe("array");
    for await (const _ of validate(FROM, { deep: true }));
  }
});

/** A copy or a conversion of the source; returns its URL. */
async function copied(how: "copy" | "convert"): Promise<string> {
  nameMemoryStore("hostile-target", undefined);
  const { layout } = await open(FROM);
  if (how === "copy") await copy(FROM, TO);
  else await convert(FROM, TO, { to: layout.zarrFormat === "v3" ? "v2" : "v3" });
  return TO;
}

test.each([
  [".zarray", "|V99999999999"],
  [".zarray", "<U4294967296"],
  [".zarray", "|S9007199254740993"],
  [
    ".zarray",
    [
      ["a", "|V2147483647"],
      ["b", "|V2147483647"],
    ],
  ],
  [".zarray", [["a", "<f8", [2 ** 20, 2 ** 20, 2 ** 20]]]],
  ["meta", "|S99999999999"],
  ["zarr.json", "r99999999999999"],
  ["zarr.json", `r${"8".repeat(400)}`],
  ["zarr.json", { name: "raw_bytes", configuration: { length_bytes: 2 ** 40 } }],
  ["zarr.json", { name: "fixed_length_utf32", configuration: { length_bytes: 2 ** 40 } }],
])("items of a huge size are refused: %s %j", async (key, type) => {
  const documents: Readonly<Record<string, object>> = {
    ".zarray": { ...ZARRAY, dtype: type, fill_value: null },
    meta: { ...META, dtype: type, fill_value: null },
    "zarr.json": { ...ZARR_JSON, data_type: type },
  };
  await storeOf({ [key]: documents[key] ?? {} });
  const code = await codeOf(async () => slice(await openArray(FROM)).read());
  const isRaw = typeof type === "string" && /^r[0-9]+$/.test(type);
  expect(code).toBe(isRaw ? "unsupported-data-type" : "resource-limit");
});

describe("names", () => {
  test("of two equal ones the last wins", async () => {
    const text = JSON.stringify(ZARRAY);
    await storeOf({
      ".zarray": text.replace('"shape":[4]', '"shape":[4],"shape":[2]'),
      ".zattrs": '{"a": 1, "b": 2, "a": 3}',
    });
    const array = await openArray(FROM);
    expect(array.shape).toEqual([2]);
    expect(array.attributes).toEqual({ a: 3, b: 2 });
  });

  const HOSTILE = ["__proto__", "constructor", "prototype", "hasOwnProperty", "toString", "valueOf"];
  const polluting = `{"polluted": true}`;

  test.each(HOSTILE)("`%s` in attributes is data, also in what is copied and converted", async (name) => {
    await storeOf({ ".zarray": ZARRAY, ".zattrs": `{"${name}": ${polluting}, "a": {"${name}": 1}}` });
    const wanted = `{"${name}":{"polluted":true},"a":{"${name}":1}}`;
    const textOf = ({ attributes }: ZarrArray) => JSON.stringify(attributes);
    const array = await openArray(FROM);
    expect(textOf(array)).toBe(wanted);
    expect(Object.getPrototypeOf(array.attributes)).toBe(Object.prototype);
    expect(textOf(await openArray(await copied("copy")))).toBe(wanted);
    expect(textOf(await openArray(await copied("convert")))).toBe(wanted);
  });

  test.each(HOSTILE)("`%s` as a member of documents and codecs stands for nothing", async (name) => {
    const member = `"${name}": ${polluting}`;
    const zarray = JSON.stringify({ ...ZARRAY, compressor: { id: "zlib" } });
    await storeOf({ ".zarray": zarray.replace("{", `{${member},`).replace('{"id"', `{${member},"id"`) });
    const array = await openArray(FROM);
    expect([...(await slice(array).read()).data]).toEqual([7, 7, 7, 7]);
    expect(array.findings.length).toBeGreaterThan(0);
    const json = JSON.stringify({
      ...ZARR_JSON,
      codecs: [{ name: "bytes" }, { name: "gzip", configuration: { level: 1 } }],
    });
    await storeOf({ "zarr.json": json.replace('{"level"', `{${member},"level"`) });
    expect([...(await slice(FROM).read()).data]).toEqual([7, 7, 7, 7]);
    await storeOf({ "zarr.json": json.replace("{", `{${member},`) });
    expect(await codeOf(() => open(FROM))).toBe("unsupported-extension");
  });

  test.each(HOSTILE)("what `__proto__` would lend is not there: no member comes from `%s`", async (name) => {
    const { shape: _, ...rest } = ZARRAY;
    const text = JSON.stringify(rest).replace("{", `{"${name}": {"shape": [4]},`);
    await storeOf({ ".zarray": text });
    expect(await codeOf(() => open(FROM))).toBe("invalid-metadata");
  });

  test.each(HOSTILE)("`%s` is no codec, no type, no grid and no key encoding", async (name) => {
    const contents: readonly [Content, string][] = [
      [{ ".zarray": { ...ZARRAY, compressor: { id: name } } }, "unsupported-codec"],
      [{ ".zarray": { ...ZARRAY, filters: [{ id: name }] } }, "unsupported-codec"],
      [{ ".zarray": { ...ZARRAY, dtype: name } }, "unsupported-data-type"],
      [{ meta: { ...META, compression: name } }, "unsupported-codec"],
      [{ "zarr.json": { ...ZARR_JSON, data_type: name } }, "unsupported-data-type"],
      [{ "zarr.json": { ...ZARR_JSON, data_type: { name, configuration: {} } } }, "unsupported-data-type"],
      [{ "zarr.json": { ...ZARR_JSON, codecs: [{ name: "bytes" }, { name }] } }, "unsupported-codec"],
      [
        { "zarr.json": { ...ZARR_JSON, codecs: [{ name: "bytes" }, { name: `numcodecs.${name}` }] } },
        "unsupported-codec",
      ],
      [
        { "zarr.json": { ...ZARR_JSON, chunk_grid: { name, configuration: { chunk_shape: [2] } } } },
        "unsupported-extension",
      ],
      [{ "zarr.json": { ...ZARR_JSON, chunk_key_encoding: { name } } }, "unsupported-extension"],
    ];
    for (const [content, expected] of contents) {
      await storeOf(content);
      const code = await codeOf(async () => slice(await openArray(FROM)).read());
      expect(code, JSON.stringify(content)).toBe(expected);
    }
  });

  test.each(HOSTILE)("`%s` is a node and a dimension like any other", async (name) => {
    const dimension = JSON.stringify({ _ARRAY_DIMENSIONS: [name] });
    await storeOf({
      ".zgroup": { zarr_format: 2 },
      [`${name}/.zarray`]: ZARRAY,
      [`${name}/.zattrs`]: dimension,
    });
    const paths = (await all(tree(FROM))).map(({ path }) => path);
    expect(paths).toEqual(["", name]);
    await copy(FROM, TO);
    const taken = await slice(`${TO}/${name}`, JSON.parse(`{"${name}": [1, 3]}`)).read();
    expect([...taken.data]).toEqual([7, 7]);
  });

  test("in consolidated metadata are data", async () => {
    const metadata = `{".zgroup": {"zarr_format": 2}, "__proto__/.zarray": ${JSON.stringify(ZARRAY)}}`;
    const store = await storeOf({ ".zmetadata": `{"zarr_consolidated_format": 1, "metadata": ${metadata}}` });
    const cannotList: Store = {
      description: "no listing",
      get: store.get.bind(store),
      size: store.size.bind(store),
    };
    const array = await openArray({ store: cannotList, path: "__proto__" });
    expect([...(await slice(array).read()).data]).toEqual([7, 7, 7, 7]);
  });
});
