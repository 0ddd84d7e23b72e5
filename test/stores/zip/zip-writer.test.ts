// @module-tag slow
import * as fs from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { ZipFile } from "yazl";
import type { ByteSink } from "../../../src/stores/byte-sink.ts";
import { FileReader } from "../../../src/stores/files/file-reader.ts";
import { FileSink } from "../../../src/stores/files/file-sink.ts";
import type { WritableStore } from "../../../src/stores/store.ts";
import { storeChecks } from "../../../src/stores/testing.ts";
import { openZipFile, ZipStore, ZipWriter, type ZipWriterOptions } from "../../../src/stores/zip.ts";
import { keysOf } from "../../support/consume.ts";
import { settled } from "../../support/until.ts";
import { BytesReader } from "../bytes-reader.ts";
import { assertBytes } from "../expect-bytes.ts";
import { MemorySink } from "../memory-sink.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder();
const DATA = new Uint8Array(100_000).map((_, i) => (i * i) >> 3);

async function fileSink(): Promise<{ sink: FileSink; path: string }> {
  const path = folder.next("x.zip");
  fs.mkdirSync(dirname(path), { recursive: true });
  return { sink: await FileSink.create(path), path };
}

describe.each<[string, ZipWriterOptions, boolean]>([
  ["", {}, true],
  [", to a sink that cannot patch", {}, false],
  [", deflating", { deflate: 3 }, true],
])("ZipWriter%s", (_, options, canPatch) => {
  const read = new WeakMap<WritableStore, () => Promise<ZipStore>>();
  const empty = async () => {
    const { sink, path } = canPatch ? await fileSink() : { sink: new MemorySink(), path: "" };
    const writer = new ZipWriter(sink, "zip test.zip", options);
    read.set(writer, async () => {
      await writer.finish();
      if (sink instanceof FileSink) return openZipFile(path);
      return ZipStore.open(new BytesReader(sink.bytes), "zip test.zip");
    });
    return writer;
  };
  const reopened = async (store: WritableStore) => {
    const open = read.get(store);
    if (open === undefined) throw new Error("another store");
    return open();
  };
  const filled = async (values: ReadonlyMap<string, Uint8Array>) => {
    const writer = await empty();
    for (const [key, value] of values) await writer.set(key, value);
    return reopened(writer);
  };
  for (const { name, run } of storeChecks({ lists: true, filled, empty, reopened })) it(name, () => run());

  it("writes the same bytes for the same values", async () => {
    const archives = [0, 1].map(async () => {
      const sink = new MemorySink();
      const writer = new ZipWriter(sink, "zip test.zip", options);
      await writer.set("a/0", DATA);
      const value = await writer.openWriter("b");
      await value.write(DATA.subarray(0, 70_000));
      await value.commit();
      await writer.finish();
      return sink.bytes;
    });
    const [first, second] = await Promise.all(archives);
    assertBytes(first, second ?? new Uint8Array(0));
  });

  it("refuses a key that is written, reading, deleting and everything after finish", async () => {
    const writer = await empty();
    await writer.set("a", DATA);
    await expect(writer.set("a", DATA)).rejects.toMatchObject({
      code: "target-not-empty",
      details: { key: "a" },
    });
    await expect(writer.openWriter("a")).rejects.toMatchObject({ code: "target-not-empty" });
    for (const call of [writer.get("a"), writer.size("a"), writer.delete("a")]) {
      await expect(call).rejects.toMatchObject({ code: "unsupported-operation" });
    }
    await writer.set("b", DATA);
    await writer.finish();
    await writer.finish();
    await expect(writer.set("c", DATA)).rejects.toMatchObject({ code: "unsupported-operation" });
    expect(await keysOf(await reopened(writer))).toEqual(["a", "b"]);
  });

  it("makes other calls wait while a writer is open", async () => {
    const writer = await empty();
    const value = await writer.openWriter("a");
    await value.write(DATA);
    const others = Promise.all([writer.set("b", DATA), writer.set("c", DATA), writer.finish()]);
    let isOver = false;
    void others.then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    await value.write(DATA);
    await value.commit();
    await others;
    const store = await reopened(writer);
    assertBytes(await store.get("a"), new Uint8Array([...DATA, ...DATA]));
    assertBytes(await store.get("c"), DATA);
  });

  it("is poisoned by a writer that is aborted half written, with the reason", async () => {
    const writer = await empty();
    const reason = new Error("the source failed");
    const value = await writer.openWriter("a");
    await value.write(DATA);
    const waiting = writer.set("b", DATA);
    const settled = expect(waiting).rejects.toBe(reason);
    await value.abort(reason);
    await settled;
    await expect(writer.openWriter("c")).rejects.toBe(reason);
    await expect(writer.finish()).rejects.toBe(reason);
  });
});

describe("a sink that fails", () => {
  const failure = new Error("the disk is gone");
  const failing = (writes: number): ByteSink => {
    const sink = new MemorySink();
    let left = writes;
    return {
      write: async (bytes) => (left-- > 0 ? sink.write(bytes) : Promise.reject(failure)),
      close: () => sink.close(),
      abort: (reason) => sink.abort(reason),
    };
  };

  it.each<ZipWriterOptions>([{}, { deflate: 1 }])(
    "is the reason of every later failure (%o)",
    async (options) => {
      const writer = new ZipWriter(failing(2), "zip test.zip", options);
      const write = async () => {
        for (let i = 0; i < 50; i++) await writer.set(`a/${i}`, DATA);
        await writer.finish();
      };
      await expect(write()).rejects.toBe(failure);
      await expect(writer.set("b", DATA)).rejects.toBe(failure);
      await expect(writer.openWriter("c")).rejects.toBe(failure);
      await expect(writer.finish()).rejects.toBe(failure);
    },
  );

  it("does not leave others waiting when a writer fails and is forgotten", async () => {
    const writer = new ZipWriter(failing(1), "zip test.zip");
    const value = await writer.openWriter("a");
    const other = writer.set("b", DATA);
    await expect(value.write(DATA)).rejects.toBe(failure);
    await expect(other).rejects.toBe(failure);
  });
});

describe("ZipWriter", () => {
  it("hands a value to the sink before set resolves, and keeps none", async () => {
    const sink = new MemorySink();
    const writer = new ZipWriter(sink, "zip test.zip");
    await Promise.all([writer.set("a", DATA), writer.set("b", DATA)]);
    expect(sink.log).toEqual(["write 31", "write 100000", "write 31", "write 100000"]);
  });

  it("aborts its sink, and gives the reason to every call", async () => {
    const { sink, path } = await fileSink();
    const writer = new ZipWriter(sink, "zip test.zip");
    const reason = new Error("given up");
    const pending = writer.set("a", new Uint8Array(3_000_000));
    const settled = expect(pending).rejects.toBe(reason);
    await Promise.resolve();
    await writer.abort(reason);
    await settled;
    await expect(writer.set("b", DATA)).rejects.toBe(reason);
    await expect(writer.finish()).rejects.toBe(reason);
    expect(fs.existsSync(path)).toBe(false);
  });

  it("refuses another deflate level than 1 to 9", () => {
    for (const deflate of [0, 10, 1.5, Number.NaN]) {
      expect(() => new ZipWriter(new MemorySink(), "zip", { deflate })).toThrow(
        expect.objectContaining({ code: "invalid-option" }),
      );
    }
  });

  it("deflates what can be", async () => {
    const sink = new MemorySink();
    const writer = new ZipWriter(sink, "zip test.zip", { deflate: 9 });
    await writer.set("zeros", new Uint8Array(1_000_000));
    await writer.finish();
    expect(sink.bytes.length).toBeLessThan(2000);
  });

  it("writes entries byte for byte as yazl does", async () => {
    const values = Array.from({ length: 50 }, (_, i) => [`t2m/é/${i}`, DATA.subarray(0, i * 100)] as const);
    const sink = new MemorySink();
    const writer = new ZipWriter(sink, "zip test.zip");
    for (const [key, value] of values) await writer.set(key, value);
    await writer.finish();
    assertBytes(sink.bytes, await byYazl(values));
  });

  it.each([65_534, 65_535])("writes %i entries, with zip64 records from 65,535 on", async (count) => {
    const sink = new FastSink();
    const writer = new ZipWriter(sink, "zip test.zip");
    for (let i = 0; i < count; i++) await writer.set(`${i}`, DATA.subarray(i, i + 1));
    await writer.finish();
    expect(sink.bytes.includes("PK\x06\x06")).toBe(count >= 65_535);
    const store = await ZipStore.open(new BytesReader(sink.bytes), "zip test.zip");
    let listed = 0;
    for await (const _ of store.list("")) listed++;
    expect(listed).toBe(count);
    expect(await store.get(`${count - 1}`)).toEqual(DATA.subarray(count - 1, count));
  });

  it("writes streamed entries byte for byte as yazl does, where the sink cannot patch", async () => {
    const sink = new MemorySink();
    const writer = new ZipWriter(sink, "zip test.zip");
    const value = await writer.openWriter("a/0");
    await value.write(DATA);
    await value.commit();
    await writer.finish();
    assertBytes(sink.bytes, await byYazl([["a/0", DATA]], true));
  });

  it("writes streamed entries as it writes others, where the sink can patch", async () => {
    const archives: Uint8Array[] = [];
    for (const streamed of [true, false]) {
      const { sink, path } = await fileSink();
      const writer = new ZipWriter(sink, "zip test.zip");
      for (const key of ["a", "b"]) {
        if (!streamed) await writer.set(key, DATA);
        else {
          const value = await writer.openWriter(key);
          await value.write(DATA.subarray(0, 5));
          await value.write(DATA.subarray(5));
          await value.commit();
        }
      }
      await writer.finish();
      archives.push(fs.readFileSync(path));
    }
    assertBytes(archives[0], archives[1] ?? new Uint8Array(0));
  });

  it("uses zip64 for what is beyond 4 GiB", async () => {
    const path = folder.next("large.zip");
    fs.mkdirSync(dirname(path), { recursive: true });
    const writer = new ZipWriter(new SparseSink(path), "zip large.zip");
    const zeros = new Uint8Array(128 * 1024 * 1024);
    const value = await writer.openWriter("far/large");
    for (let i = 0; i < 33; i++) await value.write(zeros);
    await value.write(DATA);
    await value.commit();
    await writer.set("far/small", DATA);
    await writer.finish();

    const store = await openZipFile(path);
    expect(await store.size("far/large")).toBe(33 * zeros.length + DATA.length);
    assertBytes(await store.get("far/large", { range: { suffix: DATA.length } }), DATA);
    assertBytes(await store.get("far/small"), DATA);
    await store.close();
    fs.rmSync(path);
  });
});

describe("FileSink", () => {
  it("refuses a file that exists", async () => {
    const { path } = await fileSink();
    await expect(FileSink.create(path)).rejects.toMatchObject({ code: "path-not-allowed" });
  });

  it("keeps the order of small and large writes, and patches", async () => {
    const { sink, path } = await fileSink();
    const parts = [3, 300_000, 5, 200_000, 100_000, 0, 262_144, 1].map((length, i) =>
      DATA2.subarray(i, i + length),
    );
    await Promise.all(parts.map((part) => sink.write(part)));
    await sink.patch(1, new Uint8Array([7, 7]));
    await sink.write(new Uint8Array([8]));
    await sink.patch(4, new Uint8Array([9]));
    await sink.close();
    const expected = Buffer.concat([...parts, new Uint8Array([8])]);
    expected.set([7, 7], 1);
    expected.set([9], 4);
    assertBytes(fs.readFileSync(path), expected);
    await sink.abort(new Error("too late"));
    expect(fs.existsSync(path)).toBe(true);
    await expect(sink.write(DATA)).rejects.toMatchObject({ code: "unsupported-operation" });
  });
});

describe("FileReader", () => {
  it("reads exactly, into a buffer if one is given, and says when the file is too short", async () => {
    const path = folder.next("file");
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.writeFileSync(path, DATA);
    const reader = await FileReader.open(path);
    expect(reader.size).toBe(DATA.length);
    const into = new Uint8Array(50);
    expect(await reader.read(1000, 50, { into })).toBe(into);
    assertBytes(into, DATA.subarray(1000, 1050));
    await expect(reader.read(DATA.length - 10, 11)).rejects.toMatchObject({
      code: "short-read",
      details: { expected: 11, found: 10 },
    });
    await reader.close();
  });
});

const DATA2 = new Uint8Array(500_000).map((_, i) => i * 13);

/** The twin: what yazl writes. */
async function byYazl(values: readonly (readonly [string, Uint8Array])[], streamed = false): Promise<Buffer> {
  const { PassThrough } = await import("node:stream");
  const zip = new ZipFile();
  const options = { compress: false, mtime: new Date(1980, 0, 1), forceDosTimestamp: true, mode: 0o100644 };
  const pieces: Buffer[] = [];
  const done = (async () => {
    for await (const piece of zip.outputStream) pieces.push(Buffer.from(piece));
  })();
  for (const [key, value] of values) {
    if (streamed) zip.addReadStream(new PassThrough().end(value), key, options);
    else zip.addBuffer(Buffer.from(value), key, options);
  }
  zip.end();
  await done;
  return Buffer.concat(pieces);
}

it.each<[string, ZipWriterOptions]>([
  ["stored", {}],
  ["deflated", { deflate: 3 }],
])("an archive of %s entries has its comment, and of an OME-Zarr file its version", async (_, options) => {
  const commentOf = async (more: ZipWriterOptions) => {
    const sink = new MemorySink();
    const writer = new ZipWriter(sink, "zip test.zip", { ...options, ...more });
    await writer.set("zarr.json", new TextEncoder().encode('{"attributes":{"ome":{"version":"0.5"}}}'));
    await writer.finish();
    const { comment } = await ZipStore.open(new BytesReader(sink.bytes), "zip test.zip");
    return new TextDecoder().decode(comment);
  };
  const remark = new TextEncoder().encode("größer");
  expect(await commentOf({ comment: remark })).toBe("größer");
  expect(await commentOf({ comment: remark, isOme: true })).toBe('{"ome":{"version":"0.5"}}');
  const more = '{"ome":{"version":"0.5","zipFile":{}}}';
  expect(await commentOf({ comment: new TextEncoder().encode(more), isOme: true })).toBe(more);
});

/** Keeps what is written, at once. */
class FastSink implements ByteSink {
  readonly #pieces: Uint8Array[] = [];
  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
  async write(bytes: Uint8Array): Promise<void> {
    this.#pieces.push(new Uint8Array(bytes));
  }
  async close(): Promise<void> {}
  async abort(): Promise<void> {}
}

/** A file with holes for the long writes, which must be zeros. */
class SparseSink implements ByteSink {
  readonly #fd: number;
  #at = 0;
  constructor(path: string) {
    this.#fd = fs.openSync(path, "wx");
  }
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length < 1_000_000) fs.writeSync(this.#fd, bytes, 0, bytes.length, this.#at);
    this.#at += bytes.length;
  }
  async close(): Promise<void> {
    fs.closeSync(this.#fd);
  }
  async abort(): Promise<void> {}
}
