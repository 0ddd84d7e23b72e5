import { describe, expect, it } from "vitest";
import type { ChunkSpec } from "../../src/codecs/codec.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import { ByteBudget } from "../../src/streams/byte-budget.ts";
import type { ChunkRef, DecodedChunk, EncodedChunk } from "../../src/streams/chunk.ts";
import { decodeChunks } from "../../src/streams/decode-chunks.ts";
import { encodeChunks } from "../../src/streams/encode-chunks.ts";
import { mapConcurrent } from "../../src/streams/map-concurrent.ts";
import { readChunks } from "../../src/streams/read-chunks.ts";
import { regrid } from "../../src/streams/regrid.ts";
import { reorder } from "../../src/streams/reorder.ts";
import { writeChunks } from "../../src/streams/write-chunks.ts";
import { type Buffers, plainBuffers } from "../../src/util/bytes.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { coordsOf, indexOf } from "../../src/util/shape.ts";
import {
  type ReadableStream,
  streamFrom,
  type TransformStream,
  WritableStream,
} from "../../src/util/web-streams.ts";
import {
  codingOf,
  failOnUnhandledRejections,
  identity,
  placeIn,
  rawPipeline,
  refsOf,
  rejection,
  settle,
  TestStore,
  untilAborted,
} from "./support.ts";

const SHAPE = [128, 128];
const SOURCE_CHUNK = [64, 16];
const TARGET_CHUNK = [16, 64];
/** All chunks hold 1024 items of 4 bytes: exactly a buffer of the pool. */
const CHUNK_BYTES = 4096;

const spec = (shape: readonly number[]): ChunkSpec => ({
  shape,
  dataType: { kind: "uint", size: 4 },
  fillValue: new Uint8Array(4),
});

/** Item `i` of the array, in C order. */
const valueAt = (i: number) => i * 2654435761 + 1;

function itemsOfChunk({ region }: ChunkRef, shape: readonly number[]): Uint8Array {
  const items = new Uint32Array(1024);
  for (const coords of coordsOf(region.shape)) {
    const place = coords.map((c, d) => c + (region.start[d] ?? 0));
    items[indexOf(coords, shape)] = valueAt(indexOf(place, SHAPE));
  }
  return new Uint8Array(items.buffer);
}

/** A store that holds the array in its source chunks. */
function sourceStore(): TestStore {
  const store = new TestStore();
  const { chunkKey } = placeIn(store, "from");
  for (const ref of refsOf(SHAPE, SOURCE_CHUNK))
    store.values.set(chunkKey(ref.coords), itemsOfChunk(ref, SOURCE_CHUNK));
  return store;
}

/** What the target store must hold in the end. */
function expectedValues(): Record<string, Uint8Array> {
  const { chunkKey } = placeIn(new TestStore(), "to");
  return Object.fromEntries(
    refsOf(SHAPE, TARGET_CHUNK).map((ref) => [chunkKey(ref.coords), itemsOfChunk(ref, TARGET_CHUNK)]),
  );
}

interface Flow {
  readonly from: TestStore;
  readonly to: TestStore;
  readonly refs?: readonly ChunkRef[];
  readonly window?: ChunkRef["region"];
  readonly buffers?: Buffers;
  readonly readAhead?: number;
  readonly signal?: AbortSignal;
}

const source = codingOf(rawPipeline(spec(SOURCE_CHUNK)), "from");
const target = codingOf(rawPipeline(spec(TARGET_CHUNK)), "to");

/** The stages of a flow, not yet connected. */
function stagesOf({ from, to, refs, window, buffers = plainBuffers, readAhead = 4, signal }: Flow) {
  const bytesPerChunk = 2 * CHUNK_BYTES;
  return {
    read: readChunks(placeIn(from, "from"), refs ?? refsOf(SHAPE, SOURCE_CHUNK), {
      concurrency: readAhead,
      inFlight: { budget: new ByteBudget(readAhead * bytesPerChunk), bytesPerChunk },
      buffers,
      signal,
    }),
    decode: decodeChunks(source, { buffers }),
    regrid: regrid({ shape: SHAPE, chunk: spec(TARGET_CHUNK) }, { buffers, ...(window && { window }) }),
    encode: encodeChunks(target, { buffers }),
    write: writeChunks(placeIn(to, "to"), { buffers, signal }),
  };
}

function runFlow(flow: Flow): Promise<void> {
  const { read, decode, regrid: cut, encode, write } = stagesOf(flow);
  const encoded = read.pipeThrough(decode).pipeThrough(cut).pipeThrough(encode);
  return encoded.pipeTo(write, flow.signal && { signal: flow.signal });
}

/** Rows of target chunks, each with the source chunks that it needs: what a planner would make tasks of. */
function tasks() {
  return [0, 16, 32, 48, 64, 80, 96, 112].map((row) => ({
    window: { start: [row, 0], shape: [16, 128] },
    refs: refsOf(SHAPE, SOURCE_CHUNK).filter(({ coords }) => coords[0] === Math.floor(row / 64)),
  }));
}

failOnUnhandledRejections();

describe("the stages together", () => {
  it("rechunk an array, also with an identity stream between every pair, and in any order of arrival", async () => {
    const to = new TestStore();
    await runFlow({ from: sourceStore(), to });
    expect(Object.fromEntries(to.values)).toEqual(expectedValues());
    const from = sourceStore();
    let turn = 0;
    from.beforeGet = () => settle((turn++ * 5) % 4);
    to.values.clear();
    const { read, decode, regrid: cut, encode, write } = stagesOf({ from, to });
    await read
      .pipeThrough(identity<EncodedChunk>())
      .pipeThrough(decode)
      .pipeThrough(identity<DecodedChunk>())
      .pipeThrough(cut)
      .pipeThrough(identity<DecodedChunk>())
      .pipeThrough(encode)
      .pipeThrough(identity<EncodedChunk>())
      .pipeTo(write);
    expect(Object.fromEntries(to.values)).toEqual(expectedValues());
  });

  it("do the same with a concurrent stage and a reorder between", async () => {
    const to = new TestStore();
    const { read, decode, regrid: cut, encode, write } = stagesOf({ from: sourceStore(), to });
    const seen: number[] = [];
    const note = (chunk: DecodedChunk) => {
      seen.push(chunk.index);
      return chunk;
    };
    await read
      .pipeThrough(mapConcurrent(async (chunk) => chunk, { concurrency: 2 }))
      .pipeThrough(decode)
      .pipeThrough(reorder())
      .pipeThrough(mapConcurrent(note, { concurrency: 1 }))
      .pipeThrough(cut)
      .pipeThrough(encode)
      .pipeTo(write);
    expect(Object.fromEntries(to.values)).toEqual(expectedValues());
    expect(seen).toEqual(refsOf(SHAPE, SOURCE_CHUNK).map(({ index }) => index));
  });

  it("leave chunks out that are missing on both sides of the cut", async () => {
    const from = sourceStore();
    const to = new TestStore();
    for (const key of [...from.values.keys()]) if (key.startsWith("from/c/0/")) from.values.delete(key);
    await runFlow({ from, to });
    const rows = new Set([...to.values.keys()].map((key) => Number(key.split("/")[2])));
    expect([...rows].sort()).toEqual([4, 5, 6, 7]);
  });
});

describe("a failure", () => {
  type Break = (flow: { from: TestStore; to: TestStore; failure: Error }) => Partial<{
    decode: TransformStream<EncodedChunk, DecodedChunk>;
    encode: TransformStream<DecodedChunk, EncodedChunk>;
  }>;
  const codecThatFails = (shape: readonly number[], failure: Error) => {
    let calls = 0;
    const pipeline = rawPipeline(spec(shape));
    const fail = () => {
      throw failure;
    };
    return codingOf({
      ...pipeline,
      decode: async (bytes, buffers) => (++calls === 3 ? fail() : pipeline.decode(bytes, buffers)),
      encode: async (data, buffers) => (++calls === 3 ? fail() : pipeline.encode(data, buffers)),
    });
  };
  const breaks: Record<string, Break> = {
    "a read": ({ from, failure }) => {
      from.beforeGet = (key) => (key === "from/c/1/2" ? Promise.reject(failure) : undefined);
      return {};
    },
    "a decode": ({ failure }) => ({ decode: decodeChunks(codecThatFails(SOURCE_CHUNK, failure)) }),
    "an encode": ({ failure }) => ({ encode: encodeChunks(codecThatFails(TARGET_CHUNK, failure)) }),
    "a write": ({ to, failure }) => {
      to.beforeSet = (key) => (key === "to/c/1/1" ? Promise.reject(failure) : undefined);
      return {};
    },
  };

  it.each(Object.entries(breaks))("of %s ends the flow with that very error", async (_, breakFlow) => {
    for (const failure of [new ZarrflowError("corrupt-chunk", "broken"), new RangeError("not ours")]) {
      const from = sourceStore();
      const to = new TestStore();
      const broken = breakFlow({ from, to, failure });
      const refs = { closed: false };
      const stages = { ...stagesOf({ from, to, refs: tracked(refs) }), ...broken };
      const encoded = stages.read
        .pipeThrough(stages.decode)
        .pipeThrough(stages.regrid)
        .pipeThrough(stages.encode);
      expect(await rejection(encoded.pipeTo(stages.write))).toBe(failure);
      await settle();
      expect(refs.closed).toBe(true);
    }
  });

  it("aborts the reads and writes that are in flight", async () => {
    const from = sourceStore();
    const to = new TestStore();
    const failure = new Error("broken");
    const aborted: string[] = [];
    const untilStopped = (key: string, signal: AbortSignal | undefined) =>
      untilAborted(signal).finally(() => aborted.push(key));
    from.beforeGet = (key, signal) => (key === "from/c/1/7" ? untilStopped(key, signal) : undefined);
    to.beforeSet = async (key, signal) => {
      if (key !== "to/c/1/1") return untilStopped(key, signal);
      await settle(20);
      throw failure;
    };
    expect(await rejection(runFlow({ from, to }))).toBe(failure);
    await settle();
    expect(aborted).toContain("from/c/1/7");
    expect(aborted.filter((key) => key.startsWith("to/")).length).toBeGreaterThan(0);
    expect(to.values.size).toBe(0);
  });
});

/** The refs of the source, noting when whoever takes them says that no more are needed. */
function tracked(state: { closed: boolean }): ChunkRef[] {
  const refs = refsOf(SHAPE, SOURCE_CHUNK);
  const iterate = refs[Symbol.iterator].bind(refs);
  return Object.assign(refs, {
    *[Symbol.iterator]() {
      try {
        yield* iterate();
      } finally {
        state.closed = true;
      }
    },
  });
}

describe("an early end", () => {
  it("by a reader that leaves closes every stage up to the refs", async () => {
    const state = { closed: false };
    const from = sourceStore();
    let reads = 0;
    from.beforeGet = async () => {
      reads++;
      await settle(1);
    };
    const { read, decode, regrid: cut } = stagesOf({ from, to: new TestStore(), refs: tracked(state) });
    const cutChunks: ReadableStream<DecodedChunk> = read.pipeThrough(decode).pipeThrough(cut);
    for await (const chunk of cutChunks) {
      expect(chunk.data?.kind).toBe("fixed");
      break;
    }
    await settle();
    expect(state.closed).toBe(true);
    const before = reads;
    await settle();
    expect(reads).toBe(before);
    expect(reads).toBeLessThan(refsOf(SHAPE, SOURCE_CHUNK).length);
  });

  it("by a signal ends all that is in flight with its reason", async () => {
    const from = sourceStore();
    const to = new TestStore();
    let inFlight = 0;
    const untilStopped = async (signal: AbortSignal | undefined) => {
      inFlight++;
      await untilAborted(signal).finally(() => inFlight--);
    };
    from.beforeGet = (key, signal) => (key.startsWith("from/c/1/") ? untilStopped(signal) : undefined);
    to.beforeSet = (_, signal) => untilStopped(signal);
    const abort = new AbortController();
    const ended = rejection(runFlow({ from, to, signal: abort.signal }));
    await settle(20);
    expect(inFlight).toBeGreaterThan(4);
    const reason = new Error("stop");
    abort.abort(reason);
    expect(await ended).toBe(reason);
    await settle();
    expect(inFlight).toBe(0);
    expect(to.values.size).toBe(0);
  });

  it("before the first chunk writes nothing", async () => {
    const to = new TestStore();
    const signal = AbortSignal.abort("no");
    expect(await rejection(runFlow({ from: sourceStore(), to, signal }))).toBe("no");
    expect(to.values.size).toBe(0);
  });
});

describe("memory of the stages together", () => {
  it("stays within what is admitted, however slow the sink is, and is all given back", async () => {
    const readAhead = 2;
    const targetsPerTask = 2;
    // Reads and decodes in flight, the window decoded or encoded, and one more while a chunk is encoded.
    const leaseBytes = (readAhead * 2 + targetsPerTask + 1) * CHUNK_BYTES;
    const budget = new ByteBudget(3 * leaseBytes);
    const buffers = new BufferPool(budget.limit);
    const from = sourceStore();
    const to = new TestStore();
    let takenAtMost = 0;
    to.beforeSet = async () => {
      await settle(6);
      takenAtMost = Math.max(takenAtMost, buffers.taken);
      expect(buffers.taken).toBeLessThanOrEqual(budget.leased);
    };
    const run = async (task: ReturnType<typeof tasks>[number], { signal }: { signal: AbortSignal }) => {
      const lease = await budget.acquire(leaseBytes, signal);
      try {
        await runFlow({ from, to, ...task, buffers, readAhead, signal });
      } finally {
        lease.release();
      }
    };
    await streamFrom(tasks())
      .pipeThrough(mapConcurrent(run, { concurrency: 100 }))
      .pipeTo(new WritableStream());

    expect(Object.fromEntries(to.values)).toEqual(expectedValues());
    expect(budget.peak).toBe(budget.limit);
    expect(buffers.peak).toBeLessThanOrEqual(budget.limit);
    expect(buffers.peak).toBeGreaterThan(leaseBytes);
    expect(takenAtMost).toBeGreaterThan(0);
    expect({ leased: budget.leased, taken: buffers.taken }).toEqual({ leased: 0, taken: 0 });
  });

  it("is bounded by the reads in flight alone where chunks pass untouched to a sink that never ends", async () => {
    const buffers = new BufferPool(2 ** 20);
    const budget = new ByteBudget(5 * CHUNK_BYTES);
    const from = sourceStore();
    const to = new TestStore();
    to.beforeSet = (_, signal) => untilAborted(signal);
    const abort = new AbortController();
    const read = readChunks(placeIn(from, "from"), refsOf(SHAPE, SOURCE_CHUNK), {
      inFlight: { budget, bytesPerChunk: CHUNK_BYTES },
      buffers,
    });
    const piped = read.pipeTo(writeChunks(placeIn(to, "from"), { buffers }), { signal: abort.signal });
    const ended = rejection(piped);
    await settle(20);
    expect([buffers.taken, budget.leased]).toEqual([budget.limit, budget.limit]);
    abort.abort("stop");
    expect(await ended).toBe("stop");
    expect([buffers.taken, budget.leased]).toEqual([0, 0]);
  });
});
