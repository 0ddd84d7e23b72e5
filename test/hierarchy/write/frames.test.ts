import { describe, expect, test } from "vitest";
import { type ArrayWriter, create, openArray, placeFrames, slice, type Values } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { encodeChunks, regrid, writeChunks } from "../../../src/streams/index.ts";
import { streamFrom } from "../../../src/util/web-streams.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { deferred, failOnUnhandledRejections, rejection, settle } from "../../streams/support.ts";
import { itemsOf, keysOf } from "../../support/consume.ts";
import { codeOf, logged } from "../keys.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

/** Frames of 2 x 3 that hold their number. */
function* frames(count: number, first = 0): Generator<Float32Array> {
  for (let i = 0; i < count; i++) yield new Float32Array(6).fill(first + i);
}

const movie = {
  shape: [0, 2, 3],
  dataType: "float32",
  chunks: [4, 2, 2],
  fillValue: -1,
  dimensionNames: ["time", "y", "x"],
} as const;

async function timesOf(target: string | { store: MemoryStore; path: string }): Promise<number[]> {
  const { data } = await slice(await openArray(target), { y: 1, x: 2 }).read();
  return Array.from(data, Number);
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

const refusal = (words: string) => ({ code: "invalid-option", message: expect.stringContaining(words) });

describe("append", () => {
  test.each([0, 1, 3, 4, 5, 8, 11])("%i frames, one at a time", async (count) => {
    const target = { store: new MemoryStore(), path: "movie" };
    const writer = await create(target, movie);
    await writer.append(frames(count));
    expect(writer.shape).toEqual([count, 2, 3]);
    await writer.close();
    expect((await openArray(target)).shape).toEqual([count, 2, 3]);
    expect(await timesOf(target)).toEqual(upTo(count));
  });

  test.each([0, 3, 8, 11])("%i frames to shards", async (count) => {
    const target = { store: new MemoryStore(), path: "movie" };
    const writer = await create(target, { ...movie, shards: [8, 2, 4] });
    await writer.append(frames(count));
    await writer.append(frames(2, count));
    await writer.close();
    const array = await openArray(target);
    expect([array.chunkShape, array.innerChunks().chunkShape]).toEqual([
      [8, 2, 4],
      [4, 2, 2],
    ]);
    expect(await timesOf(target)).toEqual(upTo(count + 2));
  });

  test("several frames at once, from a stream, and in several calls at once that go on where the last ended", async () => {
    const target = folder.next("movie.zarr");
    const writer = await create(target, movie);
    const pairs = streamFrom<Values<"float32">>([
      Float32Array.from([0, 1].flatMap((n) => new Array(6).fill(n))),
    ]);
    await Promise.all([writer.append(pairs), writer.append(frames(3, 2)), writer.append(frames(6, 5))]);
    await writer.close();
    expect(await timesOf(target)).toEqual(upTo(11));
  });

  test("goes on behind what was written otherwise", async () => {
    const target = { store: new MemoryStore(), path: "" };
    const writer = await create(target, { ...movie, shape: [2, 2, 3] });
    await writer.write({ time: [0, 2] }, new Float32Array(12).fill(7));
    await writer.append(frames(4));
    await writer.close();
    expect(await timesOf(target)).toEqual([7, 7, 0, 1, 2, 3]);
  });

  test("fills a ragged last chunk up with the fill value, and leaves out chunks of nothing else", async () => {
    const store = new MemoryStore();
    const writer = await create(store, { ...movie, codec: "none", chunks: [4, 2, 3] });
    await writer.append([...frames(5), new Float32Array(6).fill(-1)]);
    await writer.append([1, 2, 3, 4].map(() => new Float32Array(6).fill(-1)));
    await writer.close();
    const last = new Float32Array(Uint8Array.from((await store.get("c/1/0/0")) ?? []).buffer);
    expect([...last]).toEqual([...new Array(6).fill(4), ...new Array(18).fill(-1)]);
    expect(await store.size("c/2/0/0")).toBeUndefined();
    expect((await openArray(store)).shape).toEqual([10, 2, 3]);
  });

  test("strings, and an array in F order", async () => {
    const store = new MemoryStore();
    const names = await create(store, { shape: [0], dataType: "string", chunks: [2], fillValue: "?" });
    await names.append([["a"], ["bc", ""], ["d"], ["e"]]);
    await names.close();
    expect(await itemsOf(store, "")).toEqual(["a", "bc", "", "d", "e"]);
    const target = { store: new MemoryStore(), path: "movie" };
    const writer = await create(target, { ...movie, order: "F" });
    await writer.append(frames(6));
    await writer.close();
    expect(await timesOf(target)).toEqual(upTo(6));
  });

  test("into a zip, which goes on at whole chunks only", async () => {
    const target = folder.next("movie.zarr.zip");
    const whole = await create(`${target}/frames`, movie);
    await whole.append(frames(10));
    await whole.close();
    expect(await timesOf(`${target}/frames`)).toEqual(upTo(10));
    const writer = await create(folder.next("movie.zip"), movie);
    await writer.append(frames(8));
    await writer.append(frames(2, 8));
    const details = { hint: expect.stringContaining("a multiple of 4 frames") };
    const refused = { code: "unsupported-operation", details };
    expect(await rejection(writer.append(frames(1)))).toMatchObject(refused);
    expect(await codeOf(writer.close())).toBe("unsupported-operation");
  });

  test("holds a row of chunks, however many frames come", async () => {
    const { store, taken } = logged(new MemoryStore(), "set");
    let written = 0;
    const writer = await create(store, { ...movie, chunks: [4, 2, 3] });
    const ahead: number[] = [];
    const counted = async function* () {
      for (const [i, frame] of [...frames(100)].entries()) {
        written += taken().length;
        ahead.push(i - 4 * written);
        await settle(1);
        yield frame;
      }
    };
    await writer.append(counted());
    await writer.close();
    expect(Math.max(...ahead)).toBeLessThan(16);
  });

  const broken = new Error("the camera fell");
  const failing = async function* () {
    yield* frames(9);
    throw broken;
  };
  test.each<[string, Parameters<ArrayWriter<"float32">["append"]>[0], object]>([
    [
      "a frame of another type",
      [new Float32Array(6), new Float64Array(6) as never],
      refusal("expected Float32Array"),
    ],
    ["a frame that is not whole", [new Float32Array(6), new Float32Array(7)], refusal("multiple of 6 items")],
    ["a failure of the frames", failing(), broken],
  ])("%s comes out, and nothing stays", async (_, given, expected) => {
    const store = new MemoryStore();
    const writer = await create(store, movie);
    const error = await rejection(writer.append(given));
    expect(error).toMatchObject(expected);
    expect(await rejection(writer.close())).toBe(error);
    expect(await keysOf(store)).toEqual([]);
  });

  test("aborting does not wait for a frame that never comes, and aborts its source", async () => {
    const store = new MemoryStore();
    const writer = await create(store, movie);
    let canceled: unknown;
    const stalled = new ReadableStream<Values<"float32">>({
      start: (controller) => controller.enqueue(new Float32Array(24)),
      cancel(reason) {
        canceled = reason;
      },
    });
    const appended = rejection(writer.append(stalled));
    await settle();
    const reason = new Error("enough");
    await writer.abort(reason);
    expect(await appended).toBe(reason);
    expect(canceled).toBe(reason);

    const other = await create(store, movie);
    const never = deferred();
    const waiting = async function* () {
      yield new Float32Array(6);
      await never.promise;
    };
    const also = rejection(other.append(waiting()));
    await settle();
    await other.abort(reason);
    expect(await also).toBe(reason);
    expect(await keysOf(store)).toEqual([]);
  });

  test("a scalar cannot be appended to", async () => {
    const writer = await create(new MemoryStore(), { shape: [], dataType: "int8", chunks: [] });
    expect(await codeOf(writer.append([new Int8Array(1)]))).toBe("invalid-option");
  });
});

test("placeFrames is a stage of its own, before regrid with `growing`", async () => {
  const target = { store: new MemoryStore(), path: "" };
  const writer = await create(target, movie);
  await streamFrom<Values>(frames(7))
    .pipeThrough(placeFrames(writer))
    .pipeThrough(regrid(writer, { growing: true }))
    .pipeThrough(encodeChunks(writer))
    .pipeTo(writeChunks(writer));
  await writer.close();
  expect(await timesOf(target)).toEqual(upTo(7));
});
