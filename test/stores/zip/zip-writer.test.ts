// @module-tag slow
import * as fs from "node:fs";
import { dirname } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { ZipFile } from "yazl";
import { FileSink } from "../../../src/stores/files/file-sink.ts";
import type { WritableStore } from "../../../src/stores/store.ts";
import type { ByteSink } from "../../../src/stores/writer.ts";
import { openZipFile, ZipStore, ZipWriter, type ZipWriterOptions } from "../../../src/stores/zip.ts";
import { bytesOf, keysOf } from "../../support/consume.ts";
import { settled } from "../../support/until.ts";
import { BytesReader } from "../bytes-reader.ts";
import { MemorySink } from "../memory-sink.ts";
import { allReject, assertBytes, keepsPromises } from "../support.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder();
const DATA = new Uint8Array(100_000).map((_, i) => (i * i) >> 3);

function newPath(name = "x.zip"): string {
  const path = folder.next(name);
  fs.mkdirSync(dirname(path), { recursive: true });
  return path;
}

const openBytes = (bytes: Uint8Array) => ZipStore.open(new BytesReader(bytes), "zip test.zip");

async function stream(writer: ZipWriter, key: string, ...pieces: readonly Uint8Array[]): Promise<void> {
  const value = await writer.openWriter(key);
  for (const piece of pieces) await value.write(piece);
  await value.commit();
}

/** The archive of what `write` writes. */
async function archiveOf(
  write: (writer: ZipWriter) => Promise<void>,
  options: ZipWriterOptions = {},
): Promise<Uint8Array> {
  const sink = new MemorySink();
  const writer = new ZipWriter(sink, "zip test.zip", options);
  await write(writer);
  await writer.finish();
  return sink.bytes;
}

describe.each<[string, ZipWriterOptions, boolean]>([
  ["", {}, true],
  [", to a sink that cannot patch", {}, false],
  [", deflating", { deflate: 3 }, true],
])("ZipWriter%s", (_, options, canPatch) => {
  const read = new WeakMap<WritableStore, () => Promise<ZipStore>>();
  const empty = async () => {
    const path = canPatch ? newPath() : "";
    const sink = canPatch ? await FileSink.create(path) : new MemorySink();
    const writer = new ZipWriter(sink, "zip test.zip", options);
    read.set(writer, async () => {
      await writer.finish();
      return sink instanceof MemorySink ? openBytes(sink.bytes) : openZipFile(path);
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
  keepsPromises({ lists: true, filled, empty, reopened });

  it("refuses a key that is written, reading, deleting and everything after finish", async () => {
    const writer = await empty();
    await writer.set("a", DATA);
    await allReject([writer.set("a", DATA), writer.openWriter("a")], {
      code: "target-not-empty",
      details: { key: "a" },
    });
    await writer.set("b", DATA);
    await allReject([writer.get("a"), writer.size("a"), writer.delete("a")], {
      code: "unsupported-operation",
    });
    await writer.finish();
    await writer.finish();
    await expect(writer.set("c", DATA)).rejects.toMatchObject({ code: "unsupported-operation" });
    expect(await keysOf(await reopened(writer))).toEqual(["a", "b"]);
  });

  it("makes other calls wait while a writer is open", async () => {
    const writer = await empty();
    const value = await writer.openWriter("a");
    await value.write(DATA);
    let isOver = false;
    const others = Promise.all([writer.set("b", DATA), writer.set("c", DATA), writer.finish()]);
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
    const waiting = expect(writer.set("b", DATA)).rejects.toBe(reason);
    await value.abort(reason);
    await waiting;
    await expect(writer.openWriter("c")).rejects.toBe(reason);
    await expect(writer.finish()).rejects.toBe(reason);
  });
});

describe("a sink that fails", () => {
  const failure = new Error("the disk is gone");
  const failing = (left: number): ByteSink => {
    const sink = new MemorySink();
    const write = async (bytes: Uint8Array) => (left-- > 0 ? sink.write(bytes) : Promise.reject(failure));
    return Object.assign(sink, { write });
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
      await allReject([writer.set("b", DATA), writer.openWriter("c"), writer.finish()], failure);
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
    const path = newPath();
    const writer = new ZipWriter(await FileSink.create(path), "zip test.zip");
    const reason = new Error("given up");
    const pending = expect(writer.set("a", new Uint8Array(3_000_000))).rejects.toBe(reason);
    await Promise.resolve();
    await writer.abort(reason);
    await pending;
    await expect(writer.set("b", DATA)).rejects.toBe(reason);
    await expect(writer.finish()).rejects.toBe(reason);
    expect(fs.existsSync(path)).toBe(false);
  });

  it("refuses another deflate level than 1 to 9", () => {
    for (const deflate of [0, 10, 1.5, Number.NaN]) {
      const make = () => new ZipWriter(new MemorySink(), "zip", { deflate });
      expect(make).toThrow(expect.objectContaining({ code: "invalid-option" }));
    }
  });

  it("deflates what can be, to the same bytes each time", async () => {
    const write = async (writer: ZipWriter) => {
      await writer.set("zeros", new Uint8Array(1_000_000));
      await stream(writer, "b", new Uint8Array(70_000));
    };
    const [first, second] = [await archiveOf(write, { deflate: 9 }), await archiveOf(write, { deflate: 9 })];
    expect(first.length).toBeLessThan(2000);
    assertBytes(first, second);
  });

  it("writes entries byte for byte as yazl does, streamed where the sink cannot patch", async () => {
    const values = Array.from({ length: 50 }, (_, i) => [`t2m/é/${i}`, DATA.subarray(0, i * 100)] as const);
    const written = await archiveOf(async (writer) => {
      for (const [key, value] of values) await writer.set(key, value);
    });
    assertBytes(written, await byYazl(values));
    const streamed = await archiveOf((writer) => stream(writer, "a/0", DATA));
    assertBytes(streamed, await byYazl([["a/0", DATA]], true));
  });

  it("writes streamed entries as it writes others, where the sink can patch", async () => {
    const path = newPath();
    const writer = new ZipWriter(await FileSink.create(path), "zip test.zip");
    for (const key of ["a", "b"]) await stream(writer, key, DATA.subarray(0, 5), DATA.subarray(5));
    await writer.finish();
    const whole = await archiveOf(async (writer) => {
      for (const key of ["a", "b"]) await writer.set(key, DATA);
    });
    assertBytes(fs.readFileSync(path), whole);
  });

  it.each([65_534, 65_535])("writes %i entries, with zip64 records from 65,535 on", async (count) => {
    const pieces: Uint8Array[] = [];
    const write = async (bytes: Uint8Array) => void pieces.push(new Uint8Array(bytes));
    const writer = new ZipWriter(Object.assign(new MemorySink(), { write }), "zip test.zip");
    for (let i = 0; i < count; i++) await writer.set(`${i}`, DATA.subarray(i, i + 1));
    await writer.finish();
    const bytes = Buffer.concat(pieces);
    expect(bytes.includes("PK\x06\x06")).toBe(count >= 65_535);
    const store = await openBytes(bytes);
    expect(await keysOf(store)).toHaveLength(count);
    expect(await store.get(`${count - 1}`)).toEqual(DATA.subarray(count - 1, count));
  });

  it("uses zip64 for what is beyond 4 GiB", async () => {
    const path = newPath("large.zip");
    const fd = fs.openSync(path, "wx");
    let at = 0;
    // a hole for each long write, which must be zeros
    const write = async (bytes: Uint8Array) => {
      if (bytes.length < 1_000_000) fs.writeSync(fd, bytes, 0, bytes.length, at);
      at += bytes.length;
    };
    const sink = { write, close: async () => fs.closeSync(fd), abort: async () => {} };
    const writer = new ZipWriter(sink, "zip large.zip");
    const zeros = new Uint8Array(128 * 1024 * 1024);
    await stream(writer, "far/large", ...Array.from({ length: 33 }, () => zeros), DATA);
    await writer.set("far/small", DATA);
    await writer.finish();
    const store = await openZipFile(path);
    expect(await store.size("far/large")).toBe(33 * zeros.length + DATA.length);
    assertBytes(await store.get("far/large", { range: { suffix: DATA.length } }), DATA);
    assertBytes(await store.get("far/small"), DATA);
    await store.close();
    fs.rmSync(path);
  });

  it.each<ZipWriterOptions>([{}, { deflate: 3 }])(
    "writes its comment, and of an OME-Zarr file its version (%o)",
    async (options) => {
      const document = Buffer.from('{"attributes":{"ome":{"version":"0.5"}}}');
      const commentOf = async (text: string, isOme = false) => {
        const written = { ...options, comment: Buffer.from(text), isOme };
        const { comment } = await openBytes(
          await archiveOf((writer) => writer.set("zarr.json", document), written),
        );
        return new TextDecoder().decode(comment);
      };
      expect(await commentOf("größer")).toBe("größer");
      expect(await commentOf("größer", true)).toBe('{"ome":{"version":"0.5"}}');
      const more = '{"ome":{"version":"0.5","zipFile":{}}}';
      expect(await commentOf(more, true)).toBe(more);
    },
  );
});

/** The twin: what yazl writes. */
async function byYazl(values: readonly (readonly [string, Uint8Array])[], streamed = false): Promise<Buffer> {
  const zip = new ZipFile();
  const options = { compress: false, mtime: new Date(1980, 0, 1), forceDosTimestamp: true, mode: 0o100644 };
  for (const [key, value] of values) {
    if (streamed) zip.addReadStream(new PassThrough().end(value), key, options);
    else zip.addBuffer(Buffer.from(value), key, options);
  }
  zip.end();
  return bytesOf(zip.outputStream as AsyncIterable<Uint8Array>);
}
