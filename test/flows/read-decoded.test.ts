import { describe, expect, test } from "vitest";
import {
  create,
  type DecodedChunk,
  like,
  type NewArray,
  openArray,
  readDecoded,
  slice,
} from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { regrid } from "../../src/streams/index.ts";
import { all } from "../support/consume.ts";

describe("readDecoded", () => {
  const items = Int16Array.from({ length: 12 * 10 }, (_, i) => i + 1);
  const ways: readonly Partial<NewArray>[] = [{}, { order: "F" }, { shards: [6, 8] }];

  async function source(more: Partial<NewArray>) {
    const store = new MemoryStore();
    const writer = await create(store, { shape: [12, 10], chunks: [3, 4], dataType: "int16", ...more });
    await writer.write([[0, 9]], items.subarray(0, 90));
    await writer.close();
    return openArray(store);
  }

  test.each(ways)("rechunks and changes values, through stages, within a budget: %o", async (more) => {
    const from = await source(more);
    const negated = new TransformStream<DecodedChunk, DecodedChunk>({
      transform({ data, ...chunk }, controller) {
        if (data?.kind === "fixed") {
          const { buffer, byteOffset, length } = data.bytes;
          const values = new Int16Array(buffer, byteOffset, length / 2);
          for (const [i, value] of values.entries()) values[i] = -value;
        }
        controller.enqueue({ ...chunk, data });
      },
    });
    const store = new MemoryStore();
    const out = await create(store, { ...like(from), chunks: [12, 2], shards: undefined });
    const decoded = readDecoded(from, {}, { maxMemory: "1MB" });
    await decoded.pipeThrough(negated).pipeThrough(regrid(out)).pipeTo(out.writable);
    const { data } = await slice(await openArray(store)).read();
    expect([...data]).toEqual([...items.subarray(0, 90).map((n) => -n), ...new Array(30).fill(0)]);
  });

  test.each(ways)("of a part, by steps and an index, is that part: %o", async (more) => {
    const from = await source(more);
    const part = [[1, 12, 3], 5] as const;
    const store = new MemoryStore();
    const out = await create(store, { ...like(from), shape: [4, 1], chunks: [2, 1], shards: undefined });
    await readDecoded(from, part).pipeTo(out.writable);
    expect([...(await slice(await openArray(store)).read()).data]).toEqual([
      ...(await slice(from, part).read()).data,
    ]);
  });

  test("gives chunks that are not stored no data", async () => {
    const chunks = await all(readDecoded(await source({}), [[6, 12]]));
    expect(chunks.map(({ region, data }) => [region.start[0], data !== undefined])).toEqual(
      expect.arrayContaining([
        [0, true],
        [3, false],
      ]),
    );
  });
});
