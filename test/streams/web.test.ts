import { readdirSync, readFileSync } from "node:fs";
import { ReadableStream as NativeReadableStream } from "node:stream/web";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import * as ponyfill from "web-streams-polyfill";
import { reorder } from "../../src/streams/reorder.ts";
import { ReadableStream, streamFrom, TransformStream, WritableStream } from "../../src/util/web-streams.ts";
import { shuffled } from "./arbitraries.ts";
import { collect, deferred, failOnUnhandledRejections, rejection } from "./support.ts";

failOnUnhandledRejections();

const src = fileURLToPath(new URL("../../src/", import.meta.url));
const sources = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ name: name.replaceAll("\\", "/"), text: readFileSync(`${src}${name}`, "utf8") }));

const CLASSES = ["ReadableStream", "TransformStream", "WritableStream"] as const;

/** Where a class is used as a value: made, extended, asked for by `instanceof`, or its static methods called. */
function usesValue(text: string, name: string): boolean {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
  return new RegExp(`(new|extends|instanceof)\\s+${name}\\b|\\b${name}\\.\\w`).test(code);
}

function importsValue(text: string, name: string): boolean {
  const imports = text.matchAll(/import \{([^}]*)\} from "[^"]*\/web-streams\.ts"/g);
  return [...imports].some(([, names]) => names?.split(",").some((part) => part.trim() === name));
}

describe("the choice of streams", () => {
  it("is made in one file: no other one uses the runtime's own", () => {
    const others = sources.filter(({ name }) => name !== "util/web-streams.ts");
    expect(others.length).toBeGreaterThan(10);
    const wrong = others.flatMap(({ name, text }) =>
      CLASSES.filter((cls) => usesValue(text, cls) && !importsValue(text, cls)).map(
        (cls) => `${name}: ${cls}`,
      ),
    );
    const imported = others.filter(({ text }) => /from "(node:stream\/web|web-streams-polyfill)"/.test(text));
    expect(wrong).toEqual([]);
    expect(imported.map(({ name }) => name)).toEqual([]);
  });

  it.each([
    ["const s = new ReadableStream({})", true, false],
    ["class A extends ReadableStream<A, B> {}", true, false],
    ["ReadableStream.from([])", true, false],
    ["function f(s: ReadableStream<A>) {} // new ReadableStream", false, false],
    ['import { ReadableStream, type A } from "./web-streams.ts"', false, true],
    ['import type { ReadableStream } from "./web-streams.ts"', false, false],
    ['import { type ReadableStream } from "./web-streams.ts"', false, false],
  ])("is looked for rightly by the test above: %s", (text, uses, imports) => {
    expect(usesValue(text, "ReadableStream")).toBe(uses);
    expect(importsValue(text, "ReadableStream")).toBe(imports);
  });

  describe("by what the runtime has", () => {
    const own = { ReadableStream, TransformStream, WritableStream };

    afterEach(() => {
      Object.assign(globalThis, own);
      vi.resetModules();
    });

    it("falls on the runtime's own, which is the ponyfill in one run of these tests", ({ task }) => {
      const native = task.file.projectName === "node";
      expect(ReadableStream).toBe(native ? NativeReadableStream : ponyfill.ReadableStream);
      expect(ReadableStream).toBe(globalThis.ReadableStream);
      expect(TransformStream).toBe(globalThis.TransformStream);
      expect(WritableStream).toBe(globalThis.WritableStream);
    });

    it.each([
      ["has no streams", undefined],
      ["cannot iterate over streams", class {}],
    ])("falls on the ponyfill where that %s", async (_, lacking) => {
      vi.resetModules();
      Object.assign(globalThis, { ReadableStream: lacking });
      const fresh = await import("../../src/util/web-streams.ts");
      await fresh.loadStreams();
      expect(fresh.ReadableStream).toBe(ponyfill.ReadableStream);
      expect(fresh.TransformStream).toBe(ponyfill.TransformStream);
      expect(fresh.WritableStream).toBe(ponyfill.WritableStream);
    });
  });
});

describe("streamFrom", () => {
  it("gives the items of an iterable, sync or async", async () => {
    expect(await collect(streamFrom([1, undefined, 3]))).toEqual([1, undefined, 3]);
    async function* items() {
      yield* ["a", "b"];
    }
    expect(await collect(streamFrom(items()))).toEqual(["a", "b"]);
    expect(await collect(streamFrom(new Set<number>()))).toEqual([]);
  });

  it("asks for an item only when one is read", async () => {
    let given = 0;
    function* items() {
      for (;;) yield given++;
    }
    const reader = streamFrom(items()).getReader();
    expect(given).toBe(0);
    await reader.read();
    await reader.read();
    expect(given).toBeLessThanOrEqual(2);
    await reader.cancel();
  });

  it("closes its iterator when canceled, and waits for that", async () => {
    const closing = deferred();
    let closed = false;
    async function* items() {
      try {
        for (;;) yield 1;
      } finally {
        await closing.promise;
        closed = true;
      }
    }
    const reader = streamFrom(items()).getReader();
    await reader.read();
    const canceled = reader.cancel("enough");
    expect(closed).toBe(false);
    closing.resolve();
    await canceled;
    expect(closed).toBe(true);
  });

  it("closes its iterator when a loop over it is left, and when a pipe ends", async () => {
    let closed = 0;
    function* items() {
      try {
        for (;;) yield 1;
      } finally {
        closed++;
      }
    }
    for await (const _ of streamFrom(items())) break;
    expect(closed).toBe(1);
    const failure = new Error("the sink broke");
    const sink = new WritableStream({ write: () => Promise.reject(failure) });
    expect(await rejection(streamFrom(items()).pipeTo(sink))).toBe(failure);
    expect(closed).toBe(2);
  });

  it("takes iterators that cannot be closed", async () => {
    const items = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) };
    const reader = streamFrom(items as Iterable<number>).getReader();
    await reader.read();
    await reader.cancel();
  });

  it("passes on what the iterable threw", async () => {
    const failure = new Error("broken");
    async function* items() {
      yield 1;
      throw failure;
    }
    expect(await rejection(collect(streamFrom(items())))).toBe(failure);
  });
});

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
