import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reorder } from "../../src/streams/reorder.ts";
import { streamFrom } from "../../src/streams/web.ts";
import { shuffled } from "./arbitraries.ts";
import { collect, failOnUnhandledRejections, rejection } from "./support.ts";

failOnUnhandledRejections();

const chunks = (...indexes: number[]) => indexes.map((index) => ({ index, name: `chunk ${index}` }));

describe("reorder", () => {
  it("gives any order back as the order of the index", async () => {
    const orders = fc.nat(30).chain((count) => shuffled(Array.from({ length: count }, (_, i) => i)));
    await fc.assert(
      fc.asyncProperty(orders, fc.nat(5), async (order, first) => {
        const input = chunks(...order.map((i) => i + first));
        const output = await collect(streamFrom(input).pipeThrough(reorder(first)));
        expect(output).toEqual(chunks(...order.map((_, i) => i + first)));
      }),
      { numRuns: 50 },
    );
  });

  it("passes a chunk on as soon as it is due", async () => {
    const { readable, writable } = reorder<{ index: number; name: string }>();
    const reader = readable.getReader();
    const writer = writable.getWriter();
    const [second, first, third] = chunks(1, 0, 2);
    const reads = [reader.read(), reader.read(), reader.read()];
    for (const chunk of [second, first]) if (chunk) await writer.write(chunk);
    expect((await reads[0])?.value).toBe(first);
    expect((await reads[1])?.value).toBe(second);
    if (third) await writer.write(third);
    expect((await reads[2])?.value).toBe(third);
  });

  it("gives what follows a gap in order at the end", async () => {
    expect(await collect(streamFrom(chunks(4, 0, 2)).pipeThrough(reorder()))).toEqual(chunks(0, 2, 4));
  });

  it("passes an error on as it is", async () => {
    const failure = new Error("broken");
    async function* broken() {
      yield* chunks(1);
      throw failure;
    }
    expect(await rejection(collect(streamFrom(broken()).pipeThrough(reorder())))).toBe(failure);
  });
});
