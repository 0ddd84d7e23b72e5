import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { beforeAll, describe, expect, test } from "vitest";
import { create, openArray, type SliceChunk, slice, type ZarrArray } from "../../src/index.ts";
import { coordsOf, product } from "../../src/util/shape.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection, settle, TestStore } from "../streams/support.ts";
import { given } from "../support/given.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

/** More than one piece of `bytes()`, and several of its slabs. */
const shape = [12, 100, 130] as const;
const values = Float32Array.from({ length: product(shape) }, (_, i) => i / 3);
const whole = Buffer.from(values.buffer);

const GRID = { shape, dataType: "float32", chunks: [5, 40, 60] } as const;

let array: ZarrArray;
beforeAll(async () => {
  array = await openArray(await given({ ...GRID, dimensionNames: ["time", "y", "x"], values }));
});

/** The types of Node's own streams and those of the DOM differ in their readers of bytes. */
function nodeStream(stream: ReadableStream<Uint8Array>): Readable {
  return Readable.fromWeb(stream as NodeReadableStream<Uint8Array>);
}

/** Little memory, so that bytes come in many slabs. */
const little = { maxMemory: 900_000, concurrency: 2 };

describe("bytes()", () => {
  test("into a Response, read as text, as a buffer, and through a stage of the caller's", async () => {
    expect(Buffer.from(await new Response(slice(array).bytes()).arrayBuffer()).equals(whole)).toBe(true);
    const gzipped = slice(array, {}, little).bytes().pipeThrough(new CompressionStream("gzip"));
    const plain = new Response(gzipped).body?.pipeThrough(new DecompressionStream("gzip"));
    expect(Buffer.from(await new Response(plain ?? null).arrayBuffer()).equals(whole)).toBe(true);
  });

  test("into a stream of Node, a file and a hash", async () => {
    const file = `${folder.path}/whole.f32`;
    await pipeline(nodeStream(slice(array, {}, little).bytes()), createWriteStream(file));
    expect((await readFile(file)).equals(whole)).toBe(true);
    await slice(array, { time: 3 })
      .bytes()
      .pipeTo(Writable.toWeb(createWriteStream(file)));
    expect((await readFile(file)).equals(whole.subarray(3 * 52000, 4 * 52000))).toBe(true);
    const hash = createHash("sha256");
    for await (const piece of nodeStream(slice(array).bytes())) hash.update(piece);
    expect(hash.digest("hex")).toBe(createHash("sha256").update(whole).digest("hex"));
  });

  test("served over HTTP arrive whole", async () => {
    const server = createServer((_, response) => {
      pipeline(nodeStream(slice(array, {}, little).bytes()), response).catch(() => {});
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(Buffer.from(await response.arrayBuffer()).equals(whole)).toBe(true);
    await new Promise((resolve) => server.close(resolve));
  });

  test("are each the consumer's own", async () => {
    const pieces: Uint8Array[] = [];
    for await (const piece of slice(array, {}, little).bytes()) {
      pieces.push(piece.slice());
      piece.fill(0);
    }
    expect(pieces.length).toBeGreaterThan(1);
    expect(Buffer.concat(pieces).equals(whole)).toBe(true);
  });

  test("are read as they are asked for: who stops early stops the reading", async () => {
    const grid = { shape: [200, 1000], chunks: [1, 1000] };
    const rows = { ...grid, dataType: "float64", codec: "none", values: () => 1 };
    const store = await given({ at: new TestStore(), ...rows });
    let reads = 0;
    store.beforeGet = () => {
      reads++;
    };
    const reader = slice(await openArray(store), {}, { maxMemory: 100_000, concurrency: 2 })
      .bytes()
      .getReader();
    expect((await reader.read()).value?.length).toBeGreaterThan(0);
    await settle(20);
    expect(reads).toBeLessThan(60);
    await reader.cancel();
    const before = reads;
    await settle(20);
    expect(reads).toBe(before);
  });

  test("a chunk that cannot be decoded fails the consumer, whichever it is", async () => {
    const array = { dataType: "uint8", chunks: [2], codec: "gzip", values: [1, 2, 3, 4] };
    const store = await given({ at: new TestStore(), ...array });
    store.values.set("c/1", Uint8Array.of(1, 2, 3));
    const broken = await openArray(store);
    const code = "corrupt-chunk";
    expect(await rejection(new Response(slice(broken).bytes()).arrayBuffer())).toMatchObject({ code });
    const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
    expect(await rejection(pipeline(nodeStream(slice(broken).bytes()), sink))).toMatchObject({ code });
    expect(await rejection(slice(broken).read())).toMatchObject({ code });
    expect(await rejection(slice(broken).chunks().pipeTo(new WritableStream()))).toMatchObject({ code });
  });

  test("of strings are refused where they are read", async () => {
    const store = await given({ shape: [2], dataType: "string", chunks: [2], values: ["a", "b"] });
    const bytes = slice(await openArray(store)).bytes();
    expect(await rejection(new Response(bytes).text())).toMatchObject({ code: "unsupported-operation" });
  });
});

describe("chunks()", () => {
  /** Puts chunks where they say that they belong. */
  async function gather(chunks: AsyncIterable<SliceChunk>, into: readonly number[]): Promise<number[]> {
    const gathered = new Array<number>(product(into)).fill(Number.NaN);
    for await (const { region, data, shape: box, stride } of chunks) {
      for (const coords of coordsOf(box)) {
        const from = coords.reduce((sum, c, d) => sum + c * (stride[d] ?? 0), 0);
        const at = coords.reduce((index, c, d) => index * (into[d] ?? 1) + c + (region.start[d] ?? 0), 0);
        gathered[at] = Number(data.at(from));
      }
    }
    return gathered;
  }

  test("through a stage of the caller's in the middle", async () => {
    const doubled = new TransformStream<SliceChunk, SliceChunk>({
      transform(chunk, controller) {
        controller.enqueue({ ...chunk, data: (chunk.data as Float32Array).map((value) => 2 * value) });
      },
    });
    const ranges = { time: [2, 12, 3], y: [10, 90], x: [1, 130, 7] } as const;
    const plain = await slice(array, ranges).read();
    expect(await gather(slice(array, ranges).chunks().pipeThrough(doubled), plain.shape)).toEqual(
      Array.from(plain.data as Float32Array, (value) => Math.fround(2 * value)),
    );
  });

  test("twice at once, by tee", async () => {
    const part = slice(array, { time: [0, 2] });
    const both = await Promise.all(
      part
        .chunks()
        .tee()
        .map((one) => gather(one, [2, 100, 130])),
    );
    const expected = [...values.subarray(0, 26000)];
    expect(both).toEqual([expected, expected]);
  });

  test("left in the middle of a loop", async () => {
    const stream = slice(array).chunks();
    for await (const { data } of stream) {
      expect(data.length).toBeGreaterThan(0);
      break;
    }
    expect(stream.locked).toBe(false);
    expect((await stream.getReader().read()).done).toBe(true);
  });
});

test("read() gives the same as bytes(), by a URL too", async () => {
  const url = folder.next("a.zarr.zip");
  const writer = await create(`${url}/t2m`, GRID);
  await slice(array).chunks().pipeTo(writer.writable);
  const part = slice(`${url}/t2m`, "2:5,::9");
  const { data, shape: read, stride } = await part.read();
  expect([read, stride]).toEqual([
    [3, 12, 130],
    [12 * 130, 130, 1],
  ]);
  expect(new Float32Array(await new Response(part.bytes()).arrayBuffer())).toEqual(data);
  expect(data).toEqual((await slice(array, { time: [2, 5], y: [null, null, 9] }).read()).data);
});
