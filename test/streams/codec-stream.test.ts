import { describe, expect, expectTypeOf, it } from "vitest";
import { createPipeline, loadCodecs, type PlacedCodec } from "../../src/codecs/chain/codec-chain.ts";
import type { ChunkData } from "../../src/codecs/chunk-data.ts";
import type {
  ArrayToArrayCodec,
  ArrayToBytesCodec,
  BytesToBytesCodec,
  ChunkSpec,
} from "../../src/codecs/codec.ts";
import type { CodecConfig } from "../../src/meta/array-metadata.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import type { ChunkRef, DecodedChunk, EncodedChunk } from "../../src/streams/chunk.ts";
import { type CodedChunk, codecStream } from "../../src/streams/codec-stream.ts";
import { decodeChunks } from "../../src/streams/decode-chunks.ts";
import { encodeChunks } from "../../src/streams/encode-chunks.ts";
import type { Buffers } from "../../src/util/bytes.ts";
import type { JsonObject } from "../../src/util/json-value.ts";
import { product } from "../../src/util/shape.ts";
import { type ReadableStream, streamFrom, type TransformStream } from "../../src/util/web-streams.ts";
import { codingOf, collect, failOnUnhandledRejections, refsOf, rejection, variableData } from "./support.ts";

failOnUnhandledRejections();

const codec = (name: string, configuration: JsonObject = {}): CodecConfig => ({ name, configuration });

const SHAPE = [6, 10];
const CHUNK = [3, 5];
const numbers: ChunkSpec = {
  shape: CHUNK,
  dataType: { kind: "int", size: 2 },
  fillValue: new Uint8Array(2),
};
const strings: ChunkSpec = { shape: CHUNK, dataType: { kind: "string" }, fillValue: new Uint8Array(0) };

const LITTLE = codec("bytes", { endian: "little" });
const FILTERED = {
  spec: numbers,
  codecs: [LITTLE, codec("delta", { dtype: "<i2" }), codec("gzip", { level: 1 })],
};

const chains: Record<string, { spec: ChunkSpec; codecs: CodecConfig[] }> = {
  "bytes alone": { spec: numbers, codecs: [LITTLE] },
  "a filter and a compressor": FILTERED,
  "the order of memory, other bytes, a filter, a compressor and a checksum": {
    spec: numbers,
    codecs: [
      codec("transpose", { order: [1, 0] }),
      codec("bytes", { endian: "big" }),
      codec("shuffle", { elementsize: 2 }),
      codec("zlib", { level: 1 }),
      codec("crc32c"),
    ],
  },
  strings: { spec: strings, codecs: [codec("vlen-utf8"), codec("zlib", { level: 1 })] },
  "strings in another order": {
    spec: strings,
    codecs: [codec("transpose", { order: [1, 0] }), codec("vlen-utf8"), codec("crc32c")],
  },
};

/** The chunks of an array, the second of them missing. */
function decodedChunks(spec: ChunkSpec, strides: readonly number[], buffers: Buffers): DecodedChunk[] {
  return refsOf(SHAPE, CHUNK).map((ref) => {
    if (ref.index === 1) return { ...ref, data: undefined };
    const items = Array.from({ length: product(CHUNK) }, (_, i) => (ref.index * 1000 + i * 37) % 999);
    if (spec.dataType.kind === "string") {
      const texts = items.map((n) => "ö".repeat(n % 5) + n);
      return { ...ref, data: variableData(texts, CHUNK, buffers) };
    }
    const words = new Int16Array(items);
    const bytes = buffers.take(words.byteLength);
    bytes.set(new Uint8Array(words.buffer));
    return { ...ref, data: { kind: "fixed", bytes, itemSize: 2, shape: CHUNK, strides } satisfies ChunkData };
  });
}

/** Chunks by way of one stream for each codec. */
function throughCodecs(
  chunks: readonly CodedChunk[],
  codecs: readonly PlacedCodec[],
  direction: "decode" | "encode",
  buffers: Buffers,
): Promise<CodedChunk[]> {
  const inOrder = direction === "encode" ? codecs : codecs.toReversed();
  return collect(
    inOrder.reduce<ReadableStream<CodedChunk>>(
      (stream, placed) => stream.pipeThrough(codecStream(placed, direction, { buffers })),
      streamFrom(chunks),
    ),
  );
}

/** The chunks with their bytes copied, their buffers given back. */
function taken<C extends CodedChunk>(chunks: readonly C[], buffers: Buffers): CodedChunk[] {
  return chunks.map((chunk: CodedChunk) => {
    const bytes = "bytes" in chunk ? chunk.bytes : chunk.data?.bytes;
    if (bytes === undefined) return chunk;
    const copy = bytes.slice();
    buffers.give(bytes);
    if ("bytes" in chunk) return { ...chunk, bytes: copy };
    return { ...chunk, data: chunk.data && { ...chunk.data, bytes: copy } };
  });
}

describe("codecStream", () => {
  it.each(Object.entries(chains))("of each codec composed equals the fused stage: %s", async (_, chain) => {
    const { spec, codecs: configs } = chain;
    const buffers = new BufferPool(2 ** 22);
    const codecs = await loadCodecs(configs, spec);
    const pipeline = await createPipeline(configs, spec);
    const coding = codingOf(pipeline);
    const decoded = () => decodedChunks(spec, pipeline.strides, buffers);

    const fused = taken(
      await collect(
        streamFrom(decoded()).pipeThrough(encodeChunks(coding, { buffers, writeEmptyChunks: true })),
      ),
      buffers,
    ) as EncodedChunk[];
    const composed = taken(await throughCodecs(decoded(), codecs, "encode", buffers), buffers);
    expect(composed).toEqual(fused);
    expect(fused.map(({ bytes }) => bytes !== undefined)).toEqual([true, false, true, true]);

    const encoded = () =>
      fused.map((chunk) => {
        const bytes = chunk.bytes && buffers.take(chunk.bytes.length);
        if (chunk.bytes) bytes?.set(chunk.bytes);
        return { ...chunk, key: `a/c/${chunk.coords.join("/")}`, bytes };
      });
    const decodedFused = taken(
      await collect(streamFrom(encoded()).pipeThrough(decodeChunks(coding, { buffers }))),
      buffers,
    );
    const decodedComposed = taken(await throughCodecs(encoded(), codecs, "decode", buffers), buffers);
    expect(decodedComposed).toEqual(decodedFused);
    const before = taken(decoded(), buffers).map((chunk) => ({
      ...chunk,
      key: `a/c/${chunk.coords.join("/")}`,
    }));
    expect(decodedComposed).toEqual(before);
    expect(buffers.taken).toBe(0);
  });

  it("passes missing chunks on in the form of its other side", async () => {
    const codecs = await loadCodecs(FILTERED.codecs, numbers);
    const buffers = new BufferPool(2 ** 20);
    const missing = refsOf([1, 1], CHUNK).map((ref) => ({ ...ref, release: () => {} }));
    const encoded = missing.map((ref) => ({ ...ref, bytes: undefined }));
    const decoded = missing.map((ref) => ({ ...ref, data: undefined }));
    expect(await throughCodecs(encoded, codecs, "decode", buffers)).toEqual(decoded);
    expect(await throughCodecs(decoded, codecs, "encode", buffers)).toEqual(encoded);
  });

  it("keeps the codec's error and adds coords and key, and gives the buffers back", async () => {
    const codecs = await loadCodecs(FILTERED.codecs, numbers);
    const buffers = new BufferPool(2 ** 20);
    const [ref] = refsOf(SHAPE, CHUNK).slice(3) as [ChunkRef];
    const broken = { ...ref, key: "a/c/1/1", bytes: buffers.take(100).fill(3) };
    const error = await rejection(throughCodecs([broken], codecs, "decode", buffers));
    expect(error).toMatchObject({
      code: "corrupt-chunk",
      details: { codec: "gzip", coords: [1, 1], key: "a/c/1/1" },
    });
    expect(buffers.taken).toBe(0);
    // chunks in the form of the other side
    const chunks = decodedChunks(numbers, [5, 1], buffers);
    expect(await rejection(throughCodecs(chunks, codecs, "decode", buffers))).toMatchObject({
      code: "codec-error",
      details: { codec: "gzip", coords: [0, 0] },
    });
  });

  it("has the types of what its codec takes and gives", () => {
    const types = (
      a: PlacedCodec<ArrayToArrayCodec>,
      b: PlacedCodec<ArrayToBytesCodec>,
      c: PlacedCodec<BytesToBytesCodec>,
      any: PlacedCodec,
    ) => [
      expectTypeOf(codecStream(a, "decode")).toEqualTypeOf<TransformStream<DecodedChunk, DecodedChunk>>(),
      expectTypeOf(codecStream(b, "decode")).toEqualTypeOf<TransformStream<EncodedChunk, DecodedChunk>>(),
      expectTypeOf(codecStream(b, "encode")).toEqualTypeOf<TransformStream<DecodedChunk, EncodedChunk>>(),
      expectTypeOf(codecStream(c, "encode")).toEqualTypeOf<TransformStream<EncodedChunk, EncodedChunk>>(),
      expectTypeOf(codecStream(any, "encode")).toEqualTypeOf<TransformStream<CodedChunk, CodedChunk>>(),
    ];
    expect(types).toBeTypeOf("function");
  });
});
