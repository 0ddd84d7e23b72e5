// @module-tag slow
// @module-tag registers
import { describe, expect, test } from "vitest";
import type { NewCodec } from "../../src/codecs/catalog.ts";
import type { BytesToBytesCodec } from "../../src/codecs/codec.ts";
import { encodeBytes } from "../../src/codecs/index.ts";
import { registerCodec } from "../../src/codecs/registry.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import type { NewArray } from "../../src/hierarchy/create/metadata.ts";
import { convert, copy, info, openArray, rechunk, slice } from "../../src/index.ts";
import type { CodecText } from "../../src/meta/codec-option.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { errorOf } from "../codecs/support.ts";
import { jsonAt } from "../hierarchy/keys.ts";
import { all, digestsOf } from "../support/consume.ts";
import { given } from "../support/given.ts";

type Formats = "v2" | "v3";

/** A codec of the program's that flips bits, so that its bytes differ from all others'. */
function register(descriptor: string | NewCodec, mask = 0x5a): string {
  const name = typeof descriptor === "string" ? descriptor : descriptor.name;
  const flip = (source: Uint8Array, target: Uint8Array): number => {
    for (const [i, byte] of source.entries()) target[i] = byte ^ mask;
    return source.length;
  };
  const codec: BytesToBytesCodec = {
    kind: "bytes-to-bytes",
    name,
    maxEncodedSize: (size) => size,
    fixedEncodedSize: (size) => size,
    encodeInto: flip,
    decodeInto: flip,
  };
  registerCodec(descriptor, () => codec);
  return name;
}

const values = Int32Array.from({ length: 64 }, (_, i) => i * i);

function arrayOf(zarrFormat: Formats, codecs: NewArray["codecs"], more: Partial<NewArray> = {}) {
  const array = { shape: [8, 8], chunks: [4, 4], dataType: "int32", zarrFormat, ...(codecs && { codecs }) };
  return given({ ...array, ...more, values: new Uint8Array(values.buffer) });
}

const stated = (zarrFormat: Formats, name: string, settings = {}) =>
  zarrFormat === "v2" ? { id: name, ...settings } : { name, configuration: settings };

/** The codecs of a document, by their names there. */
async function namesIn(store: MemoryStore) {
  const document = (await jsonAt(store, ".zarray")) ?? (await jsonAt(store, "zarr.json"));
  const names = (list: { id?: string; name?: string }[] | null) =>
    list?.map(({ id, name }) => id ?? name) ?? null;
  if (document.codecs) {
    const [{ name, configuration }] = document.codecs;
    return { codecs: names(name === "sharding_indexed" ? configuration.codecs : document.codecs) };
  }
  return { filters: names(document.filters), compressor: document.compressor?.id ?? null };
}

const expectValues = async (store: MemoryStore) =>
  expect((await slice(await openArray(store)).read()).data).toEqual(values);

const described = async (store: MemoryStore) => (await all(info(store)))[0]?.codecs;

async function recoded(source: MemoryStore, codec: string) {
  const target = new MemoryStore();
  await copy(source, target, { codec: codec as CodecText });
  await expectValues(target);
  return namesIn(target);
}

describe.each(["v2", "v3"] as const)("in %s, a codec that is asked for", (zarrFormat) => {
  const only = (codec: string | null) =>
    zarrFormat === "v2"
      ? { filters: null, compressor: codec }
      : { codecs: codec ? ["bytes", codec] : ["bytes"] };

  test.each([
    ["that says so", { name: "test-compressor", role: "compressor" }],
    ["that says nothing", "test-unsaid"],
  ] as const)("replaces a compressor of the program's %s", async (_, descriptor) => {
    const name = register(descriptor);
    const source = await arrayOf(zarrFormat, undefined, { codec: { name } });
    expect(await namesIn(source)).toEqual(only(name));
    expect(await recoded(source, "zstd")).toEqual(only("zstd"));
    expect(await recoded(source, "none")).toEqual(only(null));
    expect(await recoded(await arrayOf(zarrFormat, undefined, { codec: "gzip" }), name)).toEqual(only(name));
  });

  const gzip = stated(zarrFormat, "gzip", { level: 1 });

  test("leaves filters of the program's where they are", async () => {
    const name = register({ name: "test-filter", role: "filter" });
    const source = await arrayOf(zarrFormat, [stated(zarrFormat, name), gzip]);
    const filtered = (...codec: string[]) =>
      zarrFormat === "v2"
        ? { filters: [name], compressor: codec[0] ?? null }
        : { codecs: ["bytes", name, ...codec] };
    expect(await recoded(source, "zstd")).toEqual(filtered("zstd"));
    expect(await recoded(source, "none")).toEqual(filtered());
  });

  test.each(["crc32c", "test-checksum"])("leaves the checksum %s where it is", async (name) => {
    if (name !== "crc32c") register({ name, role: "checksum" });
    const source = await arrayOf(zarrFormat, [gzip, stated(zarrFormat, name)]);
    const checked = (...codecs: string[]) =>
      zarrFormat === "v2" ? { filters: codecs, compressor: null } : { codecs: ["bytes", ...codecs] };
    expect(await recoded(source, "zstd")).toEqual(checked("zstd", name));
    expect(await recoded(source, "none")).toEqual(checked(name));
  });

  test("may be stated as JSON of v2, and is then the compressor", async () => {
    const name = register({ name: "test-json", role: "compressor" });
    const source = await arrayOf(zarrFormat, undefined);
    expect(await recoded(source, `{"id": "${name}"}`)).toEqual(only(name));
    expect(await recoded(source, '{"id": "zlib", "level": 2}')).toEqual(
      only(zarrFormat === "v2" ? "zlib" : "numcodecs.zlib"),
    );
  });
});

test("a document of v2 says what a codec of the program's is that says nothing itself", async () => {
  const name = register("test-unsaid-filter");
  const source = await arrayOf("v2", [{ id: name }, { id: "gzip", level: 1 }]);
  expect(await recoded(source, "zstd")).toEqual({ filters: [name], compressor: "zstd" });
});

describe.each(["compressor", "filter", "checksum"] as const)("a %s of the program's", (role) => {
  test.each<[Formats, Formats]>([
    ["v2", "v3"],
    ["v3", "v2"],
  ])("goes from %s to %s and back, under its name in each", async (from, to) => {
    const aliases = { v2: `test.${role}`, v3: `numcodecs.test-${role}` };
    const name = register({ name: `test-${role}`, role, aliases });
    const source = await arrayOf(from, [stated(from, aliases[from], { key: 1 })]);
    const [there, back] = [new MemoryStore(), new MemoryStore()];
    await convert(source, there, { to });
    await convert(there, back, { to: from });
    const isCompressor = role === "compressor";
    const names = {
      v2: { filters: isCompressor ? null : [aliases.v2], compressor: isCompressor ? aliases.v2 : null },
      v3: { codecs: ["bytes", aliases.v3] },
    };
    expect(await namesIn(there)).toEqual(names[to]);
    expect(await namesIn(back)).toEqual(names[from]);
    const document = from === "v2" ? ".zarray" : "zarr.json";
    expect(await jsonAt(back, document)).toEqual(await jsonAt(source, document));
    for (const store of [there, back]) await expectValues(store);
    expect(await described(there)).toContain(`${name}(key=1)`);
  });
});

test("within shards a codec of the program's encodes inner chunks, is replaced there, and converts", async () => {
  const name = register({ name: "test-inner", role: "compressor" });
  const source = await arrayOf("v3", [{ name }], { shards: [8, 8] });
  await expectValues(source);
  expect(await namesIn(source)).toEqual({ codecs: ["bytes", name] });
  expect(await recoded(source, "zstd")).toEqual({ codecs: ["bytes", "zstd"] });

  const [sharded, plain] = [new MemoryStore(), new MemoryStore()];
  await copy(await arrayOf("v2", [{ id: name }]), sharded, { to: "v3", shards: "8,8" });
  expect(await namesIn(sharded)).toEqual({ codecs: ["bytes", name] });
  await rechunk(sharded, plain, { chunks: "8,2", shards: "none", to: "v2" });
  expect(await namesIn(plain)).toEqual({ filters: null, compressor: name });
  for (const store of [sharded, plain]) await expectValues(store);
  expect(await digestsOf(plain)).toEqual(await digestsOf(source));
});

test("codecs of the program's that take arrays keep their place before and in place of `bytes`", async () => {
  const negate = <T extends { readonly bytes: Uint8Array }>(data: T): T => {
    for (const [i, byte] of data.bytes.entries()) data.bytes[i] = ~byte;
    return data;
  };
  const [name, kind] = ["test-negate", "array-to-array"] as const;
  registerCodec({ name, kind, role: "filter" }, (_, { spec }) => {
    return { kind, name, encodedSpec: () => spec, encode: negate, decode: negate };
  });
  registerCodec({ name: "test-items", kind: "array-to-bytes", role: "serializer" }, (_, { spec }) => ({
    kind: "array-to-bytes",
    name: "test-items",
    encodedSize: 64,
    encode: (data) => data.bytes,
    decode: (bytes) => ({ kind: "fixed", bytes, itemSize: 4, shape: spec.shape, strides: [4, 1] }),
  }));
  for (const [codecs, kept] of [
    ["test-negate", "test-negate bytes"],
    ["test-items", "test-items"],
    ["test-negate test-items gzip", "test-negate test-items"],
  ] as const) {
    const source = await arrayOf("v3", codecs.split(" "));
    const expected = kept.split(" ");
    const gzip = codecs.endsWith("gzip") ? ["gzip"] : [];
    expect(await namesIn(source)).toEqual({ codecs: [...expected, ...gzip] });
    await expectValues(source);
    expect(await recoded(source, "zstd")).toEqual({ codecs: [...expected, "zstd"] });
  }
  const source = await arrayOf("v3", ["test-negate"]);
  await errorOf(() => convert(source, new MemoryStore(), { to: "v2" }), "loss-refused");
});

describe("registerCodec", () => {
  test("refuses a name that another codec has", async () => {
    const taken = () => register({ name: "my-zstd", aliases: { v2: "zstd" } });
    expect((await errorOf(taken, "invalid-option")).message).toContain("zstd");
    await errorOf(() => register("numcodecs.zlib"), "invalid-option");
  });

  test("keeps what is known of a codec that it replaces", async () => {
    const name = register({ name: "bz2" }, 0x33);
    const source = await arrayOf("v2", [{ id: name, level: 1 }]);
    expect((await source.get("0.0"))?.[0]).toBe(0x33);
    expect(await recoded(source, "zstd")).toEqual({ filters: null, compressor: "zstd" });
    const target = new MemoryStore();
    await convert(source, target, { to: "v3" });
    expect(await namesIn(target)).toEqual({ codecs: ["bytes", "numcodecs.bz2"] });
  });

  test("refuses a codec of another kind than it was registered with", async () => {
    const name = register({ name: "test-kind", kind: "array-to-array" });
    const encoded = () => encodeBytes({ id: name }, new Uint8Array(1), { dataType: "uint8" });
    const { details } = await errorOf(encoded, "codec-error");
    expect(details).toMatchObject({ expected: "array-to-array", found: "bytes-to-bytes" });
  });

  test("takes settings, words and costs of its own", async () => {
    const name = register({
      name: "test-words",
      role: "compressor",
      costClass: "zstd",
      describe: ({ key = 0 }) => `key ${key}`,
      parseOption: ([key = "1"]) => ({ key: Number(key) }),
    });
    const source = await arrayOf("v3", undefined, { codec: "none" });
    const target = new MemoryStore();
    await copy(source, target, { codec: `${name}:7` as "zstd:7" });
    expect(await described(target)).toEqual(["bytes(little)", "test-words(key 7)"]);
    const { plan } = await planFlow(target, new MemoryStore(), { codec: "none" });
    const [job] = plan.jobs;
    expect(job?.source.codecs).toMatchObject([
      { name: "bytes", costClass: "none" },
      { name, configuration: { key: 7 }, costClass: "zstd" },
    ]);
    expect(job?.target.codecs).toMatchObject([{ name: "bytes", costClass: "none" }]);
  });
});
