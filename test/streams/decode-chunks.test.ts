import { describe, expect, it } from "vitest";
import type { ChunkSpec } from "../../src/codecs/codec.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import type { EncodedChunk } from "../../src/streams/chunk.ts";
import { decodeChunks } from "../../src/streams/decode-chunks.ts";
import { streamFrom } from "../../src/streams/web.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import {
  codingOf,
  collect,
  failOnUnhandledRejections,
  itemsOf,
  rawPipeline,
  rejection,
  vectorRefs,
} from "./support.ts";

failOnUnhandledRejections();

const spec: ChunkSpec = { shape: [2], dataType: { kind: "uint", size: 2 }, fillValue: null };

function encoded(count: number, bytesOf: (i: number) => Uint8Array | undefined): EncodedChunk[] {
  return vectorRefs(count, 2).map((ref, i) => ({ ...ref, key: `a/c/${i}`, bytes: bytesOf(i) }));
}

describe("decodeChunks", () => {
  it("decodes each chunk and keeps all else that it says", async () => {
    const release = () => {};
    const chunks = encoded(3, (i) => new Uint8Array([i, 0, 9, 1])).map((chunk) => ({ ...chunk, release }));
    const decoded = await collect(streamFrom(chunks).pipeThrough(decodeChunks(codingOf(rawPipeline(spec)))));
    expect(decoded.map(({ data }) => itemsOf(data))).toEqual(
      [0, 1, 2].map((i) => [
        [i, 0],
        [9, 1],
      ]),
    );
    const { bytes: _, ...ref } = chunks[1] as EncodedChunk;
    expect(decoded[1]).toEqual({ ...ref, data: decoded[1]?.data });
    expect(decoded[1]).not.toHaveProperty("bytes");
  });

  it("passes missing chunks as they are, without asking for the pipeline", async () => {
    const coding = { path: "a", pipeline: () => Promise.reject(new Error("not needed")) };
    const decoded = await collect(streamFrom(encoded(2, () => undefined)).pipeThrough(decodeChunks(coding)));
    expect(decoded.map(({ data }) => data)).toEqual([undefined, undefined]);
  });

  it("decodes with the buffers that it is given", async () => {
    const buffers = new BufferPool(2 ** 20);
    const chunks = encoded(3, () => buffers.take(4));
    const decode = decodeChunks(codingOf(rawPipeline(spec)), { buffers });
    for await (const { data } of streamFrom(chunks).pipeThrough(decode)) if (data) buffers.give(data.bytes);
    expect(buffers.taken).toBe(0);
    expect(buffers.peak).toBe(4 * 4096);
  });

  it("keeps the codec's error and adds path, coords and key", async () => {
    const failure = new ZarrflowError("corrupt-chunk", "the checksum differs", { codec: "crc32c" });
    const pipeline = {
      ...rawPipeline(spec),
      decode: (bytes: Uint8Array) =>
        bytes[0] === 1 ? Promise.reject(failure) : rawPipeline(spec).decode(bytes, new BufferPool(0)),
    };
    const chunks = encoded(3, (i) => new Uint8Array([i, 0, 0, 0]));
    const error = await rejection(
      collect(streamFrom(chunks).pipeThrough(decodeChunks(codingOf(pipeline, "t2m")))),
    );
    expect(error).toBe(failure);
    expect(failure.details).toEqual({ codec: "crc32c", path: "t2m", coords: [1], key: "a/c/1" });
  });

  it("passes on that the pipeline cannot be made", async () => {
    const failure = new ZarrflowError("unsupported-codec", "the codec is not known", { codec: "jpeg" });
    const coding = { path: "t2m", pipeline: () => Promise.reject(failure) };
    const chunks = streamFrom(encoded(1, () => new Uint8Array(4)));
    expect(await rejection(collect(chunks.pipeThrough(decodeChunks(coding))))).toBe(failure);
    expect(failure.details.path).toBe("t2m");
  });
});
