// @module-tag registers
import { describe, expect, test } from "vitest";
import { codecStep } from "../../src/codecs/chain/codec-step.ts";
import { createPipeline } from "../../src/codecs/chain/pipeline.ts";
import type { ArrayToBytesCodec, BytesToBytesCodec, Codec } from "../../src/codecs/codec.ts";
import { registerCodec } from "../../src/codecs/registry.ts";
import { decodeBytes, encodeBytes } from "../../src/codecs/standalone/decode-bytes.ts";
import { errorOf, GuardedBuffers, RAW, specOf } from "./support.ts";

/** What a codec may return by mistake in place of the number of bytes it wrote, into a target of 16. */
const IMPOSSIBLE = [
  undefined,
  null,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -1,
  1e9,
  17,
  3.5,
  "8",
  8n,
  {},
  true,
];
const named = (value: unknown) => (typeof value === "string" ? JSON.stringify(value) : String(value));
const cases = IMPOSSIBLE.map((value) => ({ name: named(value), value }));

const SIZE = 16;

/** Copies; what is given replaces parts of it. */
function codecWith(parts: Partial<BytesToBytesCodec>): BytesToBytesCodec {
  const copy = (source: Uint8Array, target: Uint8Array): number => {
    target.set(source);
    return source.length;
  };
  return {
    kind: "bytes-to-bytes",
    name: "test-length",
    maxEncodedSize: (decodedSize) => decodedSize,
    encodeInto: copy,
    decodeInto: copy,
    ...parts,
  };
}

async function failing(codec: Codec, direction: "encode" | "decode", decodedSize: number | undefined) {
  const buffers = new GuardedBuffers();
  const step = codecStep({ codec, decodedSize, maxDecodedSize: 64 }, direction, buffers);
  const error = await errorOf(() => step(buffers.take(SIZE)), "codec-error", "corrupt-chunk");
  expect(buffers.live).toBe(0);
  expect(error.details.codec).toBe("test-length");
  return error;
}

describe.each(["at once", "late"] as const)("a codec of bytes that says %s it wrote", (when) => {
  const answer = (value: unknown) => () => (when === "late" ? Promise.resolve(value) : value) as number;

  test.each(cases)("$name bytes ends encoding with `codec-error`", async ({ value }) => {
    const error = await failing(codecWith({ encodeInto: answer(value) }), "encode", SIZE);
    expect(error.code).toBe("codec-error");
    expect(error.details.expected).toBe(`a whole number from 0 to ${SIZE}`);
  });

  test.each(cases)("$name bytes ends decoding with `codec-error`", async ({ value }) => {
    const codec = codecWith({ decodeInto: answer(value) });
    expect((await failing(codec, "decode", SIZE)).code).toBe("codec-error");
  });

  test.each(cases.filter(({ value }) => value !== 17))(
    "$name bytes ends decoding to an unknown size with `codec-error`",
    async ({ value }) => {
      const codec = codecWith({ decodeInto: answer(value) });
      expect((await failing(codec, "decode", undefined)).code).toBe("codec-error");
    },
  );
});

describe("a codec of bytes", () => {
  test("that decodes fewer bytes than it states is refused", async () => {
    const codec = codecWith({ statedDecodedSize: () => SIZE, decodeInto: () => SIZE - 1 });
    expect((await failing(codec, "decode", undefined)).code).toBe("corrupt-chunk");
    expect((await failing(codec, "decode", SIZE)).code).toBe("corrupt-chunk");
  });

  test("that encodes to another size than its fixed one is refused", async () => {
    const codec = codecWith({ fixedEncodedSize: (size) => size, encodeInto: () => SIZE - 1 });
    const error = await failing(codec, "encode", SIZE);
    expect(error.details).toMatchObject({ expected: SIZE, found: SIZE - 1 });
  });

  test.each(cases.filter(({ value }) => typeof value !== "number" || value < 1e9))(
    "whose bounds are $name is refused",
    async ({ value }) => {
      if (value === 17) return;
      const size = () => value as number;
      if (value !== undefined) await failing(codecWith({ statedDecodedSize: size }), "decode", undefined);
      await failing(codecWith({ maxEncodedSize: size }), "encode", SIZE);
      registerCodec("test-length", () => codecWith({ maxEncodedSize: size }));
      const chain = [
        { name: "bytes", configuration: {} },
        { name: "test-length", configuration: {} },
      ];
      await errorOf(() => createPipeline(chain, specOf([SIZE], RAW(1))), "codec-error");
      if (value === undefined) return;
      registerCodec("test-length", () => codecWith({ fixedEncodedSize: size }));
      await errorOf(() => createPipeline(chain, specOf([SIZE], RAW(1))), "codec-error");
    },
  );

  test("by itself is held to the same", async () => {
    registerCodec("test-length", () =>
      codecWith({ encodeInto: () => undefined as never, decodeInto: () => -1 }),
    );
    await errorOf(() => encodeBytes({ id: "test-length" }, new Uint8Array(SIZE)), "codec-error");
    await errorOf(() => decodeBytes({ id: "test-length" }, new Uint8Array(SIZE)), "codec-error");
  });

  test("inside shards is held to the same", async () => {
    registerCodec("test-length", () =>
      codecWith({ encodeInto: () => Number.NaN, decodeInto: () => SIZE - 1 }),
    );
    const inner = [
      { name: "bytes", configuration: {} },
      { name: "test-length", configuration: {} },
    ];
    const sharding = {
      name: "sharding_indexed",
      configuration: {
        chunk_shape: [SIZE],
        codecs: inner,
        index_codecs: [{ name: "bytes", configuration: { endian: "little" } }],
        index_location: "end",
      },
    };
    const pipeline = await createPipeline([sharding], specOf([SIZE], RAW(1)));
    const buffers = new GuardedBuffers();
    const data = (bytes: Uint8Array) =>
      ({ kind: "fixed", bytes, itemSize: 1, shape: [SIZE], strides: [1] }) as const;
    await errorOf(() => pipeline.encode(data(buffers.take(SIZE)), buffers), "codec-error");
    const shard = buffers.take(SIZE + 16);
    const index = new DataView(shard.buffer, shard.byteOffset + SIZE, 16);
    index.setBigUint64(0, 0n, true);
    index.setBigUint64(8, BigInt(SIZE), true);
    await errorOf(() => pipeline.decode(shard, buffers), "corrupt-chunk");
    expect(buffers.live).toBe(0);
  });
});

describe("a codec of arrays", () => {
  const items = (parts: Partial<ArrayToBytesCodec>): ArrayToBytesCodec => ({
    kind: "array-to-bytes",
    name: "test-length",
    encodedSize: SIZE,
    decode: (bytes) => ({ kind: "fixed", bytes, itemSize: 1, shape: [SIZE], strides: [1] }),
    encode: (data) => data.bytes,
    ...parts,
  });
  const pipelineOf = (codec: Codec) => {
    registerCodec("test-length", () => codec);
    return createPipeline([{ name: "test-length", configuration: {} }], specOf([SIZE], RAW(1)));
  };

  test.each([
    ["nothing", () => undefined],
    ["too few bytes", () => new Uint8Array(SIZE - 1)],
    ["too many bytes", () => new Uint8Array(SIZE + 1)],
    ["a list", () => [1, 2]],
  ])("that encodes to %s is refused", async (_, encode) => {
    const pipeline = await pipelineOf(items({ encode: encode as never }));
    const buffers = new GuardedBuffers();
    const bytes = buffers.take(SIZE);
    const data = { kind: "fixed", bytes, itemSize: 1, shape: [SIZE], strides: [1] } as const;
    await errorOf(() => pipeline.encode(data, buffers), "codec-error");
    expect(buffers.live).toBe(0);
  });

  const whole = { kind: "fixed", bytes: new Uint8Array(SIZE), itemSize: 1, shape: [SIZE], strides: [1] };
  test.each([
    ["nothing", undefined],
    ["plain bytes", new Uint8Array(SIZE)],
    ["too few bytes", { ...whole, bytes: new Uint8Array(SIZE - 1) }],
    ["items of another size", { ...whole, itemSize: 2 }],
    ["another shape", { ...whole, shape: [4, 4], strides: [4, 1] }],
    ["other strides", { ...whole, strides: [2] }],
    [
      "variable items",
      { kind: "variable", bytes: new Uint8Array(SIZE), offsets: new Uint32Array(SIZE + 1), shape: [SIZE] },
    ],
  ])("that decodes to %s is refused", async (_, data) => {
    const pipeline = await pipelineOf(items({ decode: () => data as never }));
    await errorOf(() => pipeline.decode(new Uint8Array(SIZE), new GuardedBuffers()), "codec-error");
  });

  test.each([
    ["too few offsets", new Uint32Array(2)],
    ["offsets beyond the bytes", Uint32Array.of(0, 1, 99)],
    ["falling offsets", Uint32Array.of(0, 4, 2)],
  ])("that decodes to items with %s is refused", async (_, offsets) => {
    const variable = { kind: "variable", bytes: new Uint8Array(4), offsets, shape: [2] };
    registerCodec("test-length", () => items({ encodedSize: undefined, decode: () => variable as never }));
    const spec = specOf([2], { kind: "string" });
    const pipeline = await createPipeline([{ name: "test-length", configuration: {} }], spec);
    await errorOf(() => pipeline.decode(new Uint8Array(SIZE), new GuardedBuffers()), "codec-error");
  });
});
