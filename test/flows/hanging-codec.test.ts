// @module-tag alone
import { beforeAll, expect, test } from "vitest";
import type { BytesToBytesCodec } from "../../src/codecs/codec.ts";
import { registerCodec } from "../../src/codecs/registry.ts";
import { copy, create, diff, digest, open, slice, validate } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";

const source = new MemoryStore();
let isHanging = false;

beforeAll(async () => {
  const pass = (from: Uint8Array, to: Uint8Array) => {
    to.set(from);
    return from.length;
  };
  const codec: BytesToBytesCodec = {
    kind: "bytes-to-bytes",
    name: "hanging",
    maxEncodedSize: (size) => size,
    encodeInto: pass,
    decodeInto: (from, to) => (isHanging ? new Promise<number>(() => {}) : pass(from, to)),
  };
  registerCodec({ name: "hanging", kind: "bytes-to-bytes" }, () => codec);
  const array = await create(source, { shape: [8], chunks: [2], dataType: "uint8", codec: "hanging" });
  await array.write(
    [],
    Uint8Array.from({ length: 8 }, (_, i) => i + 1),
  );
  await array.close();
  isHanging = true;
});

async function all(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

async function arrayOf() {
  const node = await open(source);
  if (node.kind !== "array") throw new Error("no array");
  return node;
}

const calls: Record<string, (options: { signal: AbortSignal }) => Promise<unknown>> = {
  "slice().read": async (options) => slice(await arrayOf(), {}, options).read(),
  "slice().bytes": async (options) => all(slice(await arrayOf(), {}, options).bytes()),
  "slice().chunks": async (options) => all(slice(await arrayOf(), {}, options).chunks()),
  digest: (options) => all(digest(source, options)),
  diff: (options) => all(diff(source, source, options)),
  "validate, deep": (options) => all(validate(source, { deep: true, ...options })),
  copy: (options) => copy(source, new MemoryStore(), { codec: "gzip:1", ...options }),
};

test.each(Object.entries(calls))("%s ends with its signal while a codec hangs", async (_, run) => {
  const controller = new AbortController();
  const running = run({ signal: controller.signal });
  setTimeout(() => controller.abort(new Error("enough")), 50);
  const late = new Promise((resolve) => setTimeout(resolve, 3000, "late"));
  await expect(Promise.race([running, late])).rejects.toMatchObject({
    code: "aborted",
    cause: expect.objectContaining({ message: "enough" }),
  });
});
