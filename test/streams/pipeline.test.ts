import { describe, expect, it } from "vitest";
import type { ChunkRef, DecodedChunk, EncodedChunk } from "../../src/streams/chunk.ts";
import { decodeChunks } from "../../src/streams/decode-chunks.ts";
import { encodeChunks } from "../../src/streams/encode-chunks.ts";
import { mapConcurrent } from "../../src/streams/map-concurrent.ts";
import { reorder } from "../../src/streams/reorder.ts";
import type { ReadableStream, TransformStream } from "../../src/streams/web.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import {
  expectedValues,
  runFlow,
  SHAPE,
  SOURCE_CHUNK,
  sourceStore,
  spec,
  stagesOf,
  TARGET_CHUNK,
} from "./flow.ts";
import {
  codingOf,
  failOnUnhandledRejections,
  identity,
  rawPipeline,
  refsOf,
  rejection,
  settle,
  TestStore,
  untilAborted,
} from "./support.ts";

failOnUnhandledRejections();

describe("the stages together", () => {
  it("rechunk an array", async () => {
    const to = new TestStore();
    await runFlow({ from: sourceStore(), to });
    expect(Object.fromEntries(to.values)).toEqual(expectedValues());
  });

  it("do the same with an identity stream between every pair, and in any order of arrival", async () => {
    const to = new TestStore();
    const from = sourceStore();
    let turn = 0;
    from.beforeGet = () => settle((turn++ * 5) % 4);
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
    await read
      .pipeThrough(mapConcurrent(async (chunk) => chunk, { concurrency: 2 }))
      .pipeThrough(decode)
      .pipeThrough(reorder())
      .pipeThrough(
        mapConcurrent(
          (chunk) => {
            seen.push(chunk.index);
            return chunk;
          },
          { concurrency: 1 },
        ),
      )
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
