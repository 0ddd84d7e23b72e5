import { describe, expect, it } from "vitest";
import type { ChunkData } from "../../src/codecs/chunk-data.ts";
import type { ChunkSpec } from "../../src/codecs/codec.ts";
import type { DataType } from "../../src/meta/data-type.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import { type EncodeOptions, encodeChunks } from "../../src/streams/encode-chunks.ts";
import { streamFrom } from "../../src/streams/web.ts";
import { plainBuffers } from "../../src/util/buffers.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import {
  codingOf,
  collect,
  failOnUnhandledRejections,
  rawPipeline,
  rejection,
  variableData,
  vectorRefs,
} from "./support.ts";

failOnUnhandledRejections();

const float64: DataType = { kind: "float", size: 8 };

function bytesOf(words: Float64Array | BigUint64Array): Uint8Array {
  return new Uint8Array(words.buffer);
}

function doubles(...values: number[]): ChunkData {
  const bytes = bytesOf(new Float64Array(values));
  return { kind: "fixed", bytes, itemSize: 8, shape: [values.length], strides: [1] };
}

/** What comes out for one chunk of a vector of float64. */
async function encodeOne(
  data: ChunkData | undefined,
  fillValue: Uint8Array | null,
  options: EncodeOptions = {},
  dataType = float64,
) {
  const spec: ChunkSpec = { shape: data?.shape ?? [2], dataType, fillValue };
  const [ref] = vectorRefs(1);
  if (ref === undefined) throw new Error("one ref expected");
  const encode = encodeChunks(codingOf(rawPipeline(spec)), options);
  const [chunk] = await collect(streamFrom([{ ...ref, data }]).pipeThrough(encode));
  return chunk?.bytes;
}

const NAN = 0x7ff8000000000000n;
const OTHER_NAN = 0x7ff8000000000001n;
const zero = bytesOf(new Float64Array([0]));

describe("encodeChunks", () => {
  it("encodes each chunk and keeps all else that it says", async () => {
    const release = () => {};
    const spec: ChunkSpec = { shape: [2], dataType: float64, fillValue: zero };
    const chunks = vectorRefs(3, 2).map((ref, i) => ({ ...ref, release, data: doubles(i + 1, 0.5) }));
    const encoded = await collect(streamFrom(chunks).pipeThrough(encodeChunks(codingOf(rawPipeline(spec)))));
    const expected = vectorRefs(3, 2).map((ref, i) => ({
      ...ref,
      release,
      bytes: bytesOf(new Float64Array([i + 1, 0.5])),
    }));
    expect(encoded).toEqual(expected);
    expect(encoded[0]).not.toHaveProperty("data");
  });

  it("leaves out a chunk of nothing but the fill value", async () => {
    expect(await encodeOne(doubles(0, 0, 0), zero)).toBeUndefined();
    const seven = bytesOf(new Float64Array([7]));
    expect(await encodeOne(doubles(7, 7), seven)).toBeUndefined();
    expect(await encodeOne(doubles(7, 7.5), seven)).toEqual(bytesOf(new Float64Array([7, 7.5])));
    expect(await encodeOne(doubles(7.5, 7), seven)).toEqual(bytesOf(new Float64Array([7.5, 7])));
  });

  it("leaves out a chunk that came without data", async () => {
    expect(await encodeOne(undefined, zero)).toBeUndefined();
    expect(await encodeOne(undefined, null)).toBeUndefined();
  });

  it("keeps -0.0 where the fill value is 0.0, and the other way round", async () => {
    expect(await encodeOne(doubles(-0, -0), zero)).toEqual(bytesOf(new Float64Array([-0, -0])));
    const minusZero = bytesOf(new Float64Array([-0]));
    expect(await encodeOne(doubles(0, 0), minusZero)).toEqual(bytesOf(new Float64Array([0, 0])));
    expect(await encodeOne(doubles(-0, -0), minusZero)).toBeUndefined();
  });

  it("takes a NaN for the fill value only when its payload is the same", async () => {
    const nans = (...words: bigint[]): ChunkData => {
      const bytes = bytesOf(new BigUint64Array(words));
      return { kind: "fixed", bytes, itemSize: 8, shape: [words.length], strides: [1] };
    };
    const fill = bytesOf(new BigUint64Array([NAN]));
    expect(await encodeOne(nans(NAN, NAN), fill)).toBeUndefined();
    expect(await encodeOne(nans(NAN, OTHER_NAN), fill)).toEqual(
      bytesOf(new BigUint64Array([NAN, OTHER_NAN])),
    );
  });

  it("stores every chunk that has data where the fill value is null", async () => {
    expect(await encodeOne(doubles(0, 0), null)).toEqual(new Uint8Array(16));
  });

  it("stores chunks of the fill value too when asked", async () => {
    expect(await encodeOne(doubles(0, 0), zero, { writeEmpty: true })).toEqual(new Uint8Array(16));
  });

  describe("of variable items", () => {
    const string: DataType = { kind: "string" };
    const fill = new TextEncoder().encode("none");
    const encodeStrings = (strings: string[], fillValue: Uint8Array | null = fill, options = {}) =>
      encodeOne(variableData(strings, [strings.length], plainBuffers), fillValue, options, string);

    it("leaves out a chunk of nothing but the fill value", async () => {
      expect(await encodeStrings(["none", "none"])).toBeUndefined();
      expect(await encodeStrings(["", ""], new Uint8Array(0))).toBeUndefined();
    });

    it.each([[["none", "nonE"]], [["nonenone", ""]], [["nones", "none"]], [["non", "enone"]], [["", ""]]])(
      "keeps %j",
      async (strings) => {
        expect(await encodeStrings(strings)).toBeDefined();
      },
    );

    it("stores them where the fill value is null, or when asked", async () => {
      expect(await encodeStrings(["", ""], null)).toBeDefined();
      expect(await encodeStrings(["none"], fill, { writeEmpty: true })).toBeDefined();
    });
  });

  it("gives back the buffers of chunks that it leaves out, and hands the others on", async () => {
    const buffers = new BufferPool(2 ** 20);
    const spec: ChunkSpec = { shape: [2], dataType: float64, fillValue: zero };
    const chunks = vectorRefs(4, 2).map((ref, i) => {
      const bytes = buffers.take(16);
      bytes.fill(i % 2);
      return { ...ref, data: { kind: "fixed", bytes, itemSize: 8, shape: [2], strides: [1] } as const };
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
    const error = await rejection(
      collect(streamFrom(chunks).pipeThrough(encodeChunks(codingOf(pipeline, "t2m")))),
    );
    expect(error).toBe(failure);
    expect(failure.details).toEqual({ codec: "zlib", path: "t2m", coords: [1] });
  });
});
