import { describe, expect, it } from "vitest";
import type { ChunkData } from "../../src/codecs/chunk-data.ts";
import type { ChunkSpec } from "../../src/codecs/codec.ts";
import type { DataType } from "../../src/meta/data-type.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import type { ChunkCodec, EncodedChunk } from "../../src/streams/chunk.ts";
import { decodeChunks } from "../../src/streams/decode-chunks.ts";
import { type EncodeOptions, encodeChunks } from "../../src/streams/encode-chunks.ts";
import { plainBuffers } from "../../src/util/bytes.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { streamFrom } from "../../src/util/web-streams.ts";
import {
  codingOf,
  collect,
  failOnUnhandledRejections,
  itemsOf,
  rawPipeline,
  rejection,
  variableData,
  vectorRefs,
} from "./support.ts";

failOnUnhandledRejections();

describe("decodeChunks", () => {
  const spec: ChunkSpec = { shape: [2], dataType: { kind: "uint", size: 2 }, fillValue: null };
  const release = () => {};
  const encoded = (count: number, bytesOf: (i: number) => Uint8Array | undefined): EncodedChunk[] =>
    vectorRefs(count, 2).map((ref, i) => ({ ...ref, key: `a/c/${i}`, release, bytes: bytesOf(i) }));
  const decode = (chunks: EncodedChunk[], coding: ChunkCodec, buffers?: BufferPool) =>
    collect(streamFrom(chunks).pipeThrough(decodeChunks(coding, { buffers })));

  it("decodes each chunk and keeps all else that it says, in the buffers that it is given", async () => {
    const buffers = new BufferPool(2 ** 20);
    const chunks = encoded(3, (i) => {
      const bytes = buffers.take(4);
      bytes.set([i, 0, 9, 1]);
      return bytes;
    });
    const decoded = await decode(chunks, codingOf(rawPipeline(spec)), buffers);
    for (const [i, chunk] of decoded.entries()) {
      expect(itemsOf(chunk.data)).toEqual([
        [i, 0],
        [9, 1],
      ]);
      const { bytes: _, ...ref } = chunks[i] as EncodedChunk;
      expect(chunk).toEqual({ ...ref, data: chunk.data });
      expect(chunk).not.toHaveProperty("bytes");
      if (chunk.data) buffers.give(chunk.data.bytes);
    }
    expect([buffers.taken, buffers.peak]).toEqual([0, 4 * 4096]);
  });

  it("passes missing chunks as they are, without asking for the pipeline", async () => {
    const coding = { path: "a", pipeline: () => Promise.reject(new Error("not needed")) };
    const decoded = await decode(
      encoded(2, () => undefined),
      coding,
    );
    expect(decoded.map(({ data }) => data)).toEqual([undefined, undefined]);
  });

  it("keeps the error of a codec, or of a pipeline that cannot be made, and adds path, coords and key", async () => {
    const failure = new ZarrflowError("corrupt-chunk", "the checksum differs", { codec: "crc32c" });
    const pipeline = {
      ...rawPipeline(spec),
      decode: (bytes: Uint8Array) =>
        bytes[0] === 1 ? Promise.reject(failure) : rawPipeline(spec).decode(bytes, new BufferPool(0)),
    };
    const chunks = encoded(3, (i) => new Uint8Array([i, 0, 0, 0]));
    expect(await rejection(decode(chunks, codingOf(pipeline, "t2m")))).toBe(failure);
    expect(failure.details).toEqual({ codec: "crc32c", path: "t2m", coords: [1], key: "a/c/1" });
    const unknown = new ZarrflowError("unsupported-codec", "the codec is not known", { codec: "jpeg" });
    const coding = { path: "t2m", pipeline: () => Promise.reject(unknown) };
    expect(await rejection(decode(chunks, coding))).toBe(unknown);
    expect(unknown.details.path).toBe("t2m");
  });
});

describe("encodeChunks", () => {
  const float64: DataType = { kind: "float", size: 8 };
  const bytesOf = (words: Float64Array | BigUint64Array) => new Uint8Array(words.buffer);
  const bytesOfDoubles = (...values: number[]) => bytesOf(new Float64Array(values));
  const fixed = (bytes: Uint8Array): ChunkData => {
    const shape = [bytes.length / 8];
    return { kind: "fixed", bytes, itemSize: 8, shape, strides: [1] };
  };
  const doubles = (...values: number[]) => fixed(bytesOfDoubles(...values));
  const words = (...values: bigint[]) => bytesOf(new BigUint64Array(values));
  const zero = bytesOfDoubles(0);
  const minusZero = bytesOfDoubles(-0);
  const NAN = 0x7ff8000000000000n;

  /** What comes out for one chunk of a vector. */
  async function encodeOne(
    data: ChunkData | undefined,
    fillValue: Uint8Array | null,
    options: EncodeOptions = {},
    dataType = float64,
  ) {
    const spec: ChunkSpec = { shape: data?.shape ?? [2], dataType, fillValue };
    const encode = encodeChunks(codingOf(rawPipeline(spec)), options);
    const [ref] = vectorRefs(1);
    const [chunk] = await collect(streamFrom(ref ? [{ ...ref, data }] : []).pipeThrough(encode));
    return chunk?.bytes;
  }

  it("encodes each chunk and keeps all else that it says", async () => {
    const release = () => {};
    const spec: ChunkSpec = { shape: [2], dataType: float64, fillValue: zero };
    const refs = vectorRefs(3, 2).map((ref) => ({ ...ref, release }));
    const chunks = refs.map((ref, i) => ({ ...ref, data: doubles(i + 1, 0.5) }));
    const encoded = await collect(streamFrom(chunks).pipeThrough(encodeChunks(codingOf(rawPipeline(spec)))));
    expect(encoded).toEqual(refs.map((ref, i) => ({ ...ref, bytes: bytesOfDoubles(i + 1, 0.5) })));
    expect(encoded[0]).not.toHaveProperty("data");
  });

  it.each<[string, ChunkData | undefined, Uint8Array | null, boolean]>([
    ["nothing but zeros", doubles(0, 0, 0), zero, false],
    ["nothing but another fill value", doubles(7, 7), bytesOfDoubles(7), false],
    ["a fill value, then others", doubles(7, 7.5), bytesOfDoubles(7), true],
    ["others, then a fill value", doubles(7.5, 7), bytesOfDoubles(7), true],
    ["-0.0 where 0.0 fills", doubles(-0, -0), zero, true],
    ["0.0 where -0.0 fills", doubles(0, 0), minusZero, true],
    ["-0.0 where it fills", doubles(-0, -0), minusZero, false],
    ["NaN that fills", fixed(words(NAN, NAN)), words(NAN), false],
    ["NaN of another payload", fixed(words(NAN, NAN + 1n)), words(NAN), true],
    ["zeros where the fill value is null", doubles(0, 0), null, true],
    ["no data", undefined, zero, false],
    ["no data, and no fill value", undefined, null, false],
  ])("stores a chunk unless it is nothing but the fill value: %s", async (_, data, fill, isStored) => {
    expect(await encodeOne(data, fill)).toEqual(isStored ? data?.bytes.slice() : undefined);
    if (data) expect(await encodeOne(data, fill, { writeEmptyChunks: true })).toEqual(data.bytes.slice());
  });

  it.each([
    [["none", "none"], "none", false],
    [["", ""], "", false],
    [["none", "nonE"], "none", true],
    [["nonenone", ""], "none", true],
    [["nones", "none"], "none", true],
    [["non", "enone"], "none", true],
    [["", ""], "none", true],
    [["", ""], null, true],
  ])("stores strings unless they are nothing but the fill value: %j, %j", async (strings, fill, isStored) => {
    const fillValue = fill === null ? null : new TextEncoder().encode(fill);
    const string: DataType = { kind: "string" };
    const data = () => variableData(strings, [strings.length], plainBuffers);
    expect((await encodeOne(data(), fillValue, {}, string)) !== undefined).toBe(isStored);
    expect(await encodeOne(data(), fillValue, { writeEmptyChunks: true }, string)).toBeDefined();
  });

  it("gives back the buffers of chunks that it leaves out, and hands the others on", async () => {
    const buffers = new BufferPool(2 ** 20);
    const spec: ChunkSpec = { shape: [2], dataType: float64, fillValue: zero };
    const chunks = vectorRefs(4, 2).map((ref, i) => {
      const bytes = buffers.take(16);
      bytes.fill(i % 2);
      return { ...ref, data: fixed(bytes) };
    });
    const encode = encodeChunks(codingOf(rawPipeline(spec)), { buffers });
    const encoded = await collect(streamFrom(chunks).pipeThrough(encode));
    expect(encoded.map(({ bytes }) => bytes !== undefined)).toEqual([false, true, false, true]);
    expect(buffers.taken).toBe(2 * 4096);
  });

  it("keeps the codec's error and adds path and coords", async () => {
    const failure = new ZarrflowError("codec-error", "cannot encode this", { codec: "zlib" });
    const spec: ChunkSpec = { shape: [1], dataType: float64, fillValue: zero };
    const pipeline = { ...rawPipeline(spec), encode: () => Promise.reject(failure) };
    const chunks = vectorRefs(2).map((ref) => ({ ...ref, data: doubles(ref.index) }));
    const encoded = collect(streamFrom(chunks).pipeThrough(encodeChunks(codingOf(pipeline, "t2m"))));
    expect(await rejection(encoded)).toBe(failure);
    expect(failure.details).toEqual({ codec: "zlib", path: "t2m", coords: [1] });
  });
});
