// @module-tag slow
// @module-tag registers slow
import { beforeAll, expect, test } from "vitest";
import type { BytesToBytesCodec } from "../../src/codecs/codec.ts";
import { registerCodec } from "../../src/codecs/registry.ts";
import { copy, create, diff, digest, openArray, slice, validate, writeRegion } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { contentsOf, drain } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { settled, until } from "../support/until.ts";

const source = new MemoryStore();
const array = { shape: [8], chunks: [2], dataType: "uint8", codec: { name: "hanging" } } as const;
const empty = { ...array, shape: [0] };
const values = new Uint8Array(8).fill(7);
let isHanging = false;
/** Ends calls of the codec that hang; encoders do where it is set. */
let letEnd: (() => void)[] | undefined;
let hanging: (() => void)[] = [];

beforeAll(async () => {
  const pass = (from: Uint8Array, to: Uint8Array) => {
    to.set(from);
    return from.length;
  };
  const codec: BytesToBytesCodec = {
    kind: "bytes-to-bytes",
    name: "hanging",
    maxEncodedSize: (size) => size,
    encodeInto: async (from, to) => {
      if (letEnd) await new Promise<void>((resolve) => letEnd?.push(resolve));
      return pass(from, to);
    },
    decodeInto: (from, to) =>
      isHanging
        ? new Promise<number>((resolve) => letEnd?.push(() => resolve(pass(from, to))))
        : pass(from, to),
  };
  registerCodec({ name: "hanging", kind: "bytes-to-bytes" }, () => codec);
  await given({ at: source, ...array, values: (i) => i + 1 });
  isHanging = true;
});

const calls: Record<string, (options: { signal: AbortSignal }) => Promise<unknown>> = {
  "slice().read": async (options) => slice(source, {}, options).read(),
  "slice().bytes": async (options) => drain(slice(source, {}, options).bytes()),
  "slice().chunks": async (options) => drain(slice(source, {}, options).chunks()),
  digest: (options) => drain(digest(source, options)),
  diff: (options) => drain(diff(source, source, options)),
  "validate, deep": (options) => drain(validate(source, { deep: true, ...options })),
  copy: (options) => copy(source, new MemoryStore(), { codec: "gzip:1", ...options }),
};

test.each(Object.entries(calls))("%s ends with its signal while a codec hangs", async (_, run) => {
  const controller = new AbortController();
  const running = run({ signal: controller.signal });
  setTimeout(() => controller.abort(new Error("enough")), 50);
  await expect(running).rejects.toMatchObject({ code: "aborted", cause: { message: "enough" } });
});

const writes: Record<string, (target: MemoryStore, signal: AbortSignal) => Promise<unknown>> = {
  "write of a new array": async (target, signal) =>
    (await create(target, array, { signal })).write([], values),
  "append to a new array": async (target, signal) =>
    (await create(target, empty, { signal })).append([values]),
  "close of a new array": async (target, signal) => {
    const writer = await create(target, array, { signal });
    writer.write([], values).catch(() => {});
    await writer.close();
  },
  "abort of a new array": async (target, signal) => {
    const writer = await create(target, array);
    signal.addEventListener("abort", () => writer.abort(signal.reason));
    await writer.write([], values);
  },
  writeRegion: async (target, signal) => {
    await copy(source, target);
    await writeRegion(await openArray(target), [], values, { signal });
  },
  "writeRegion of a part of a chunk": async (target, signal) => {
    await copy(source, target);
    await writeRegion(await openArray(target), [1], values.subarray(0, 1), { signal });
  },
  "append to a chunk": async (target, signal) => {
    const writer = await create(target, empty, { signal });
    letEnd = undefined;
    await writer.append([values.subarray(0, 1)]);
    letEnd = hanging;
    try {
      await writer.append([values.subarray(0, 1)]);
    } finally {
      await writer.abort();
    }
  },
  "copy with this codec": async (target, signal) => {
    const plain = await given({ ...array, codec: "gzip", values });
    await copy(plain, target, { codec: array.codec, signal });
  },
};

test.each(Object.entries(writes))(
  "%s ends with its signal while a codec hangs, and writes nothing later",
  async (name, run) => {
    hanging = [];
    letEnd = hanging;
    const target = new MemoryStore();
    const controller = new AbortController();
    const running = run(target, controller.signal);
    running.catch(() => {});
    await until(() => hanging.length > 0);
    controller.abort(new Error("enough"));
    await expect(running).rejects.toMatchObject({ code: "aborted", cause: { message: "enough" } });
    const before = await contentsOf(target);
    letEnd = undefined;
    isHanging = false;
    for (const end of hanging) end();
    await settled();
    expect(await contentsOf(target)).toEqual(before);
    if (!name.startsWith("writeRegion")) expect(before).toEqual({});
    else await writeRegion(await openArray(target), [], values);
    isHanging = true;
  },
);
