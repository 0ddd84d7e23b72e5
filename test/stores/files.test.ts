// @module-tag registers
import fs from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { BytesToBytesCodec } from "../../src/codecs/codec.ts";
import { registerCodec } from "../../src/codecs/index.ts";
import { slice } from "../../src/index.ts";
import { asyncFileCalls, type FileCalls } from "../../src/stores/files/file-calls.ts";
import { FileReader } from "../../src/stores/files/file-reader.ts";
import { FileSink } from "../../src/stores/files/file-sink.ts";
import { given } from "../support/given.ts";
import { settled, until } from "../support/until.ts";
import { assertBytes } from "./support.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();
const DATA = Uint8Array.of(1, 2, 3);

/** A file that a reader has opened. */
async function opened(name: string, files = asyncFileCalls) {
  const path = join(folder.path, name);
  fs.writeFileSync(path, DATA);
  return { path, reader: await FileReader.open(path, files) };
}

/** How often a file is open in this process. */
function openings(path: string): number {
  return fs.readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false; // that of the folder itself
    }
  }).length;
}

describe("FileReader", () => {
  it("reads exactly, into a buffer if one is given, and says when the file is too short", async () => {
    const { reader } = await opened("exact");
    const into = new Uint8Array(2);
    expect(await reader.read(1, 2, { into })).toBe(into);
    expect([reader.size, ...into]).toEqual([3, 2, 3]);
    const short = { code: "short-read", details: { expected: 3, found: 2 } };
    await expect(reader.read(1, 3)).rejects.toMatchObject(short);
    await reader.close();
  });

  it("closes its file once, when nothing is read from it any more", async () => {
    let resume = () => {};
    const waiting = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const released: number[] = [];
    const { reader } = await opened("plain", {
      ...asyncFileCalls,
      read: (...call) => waiting.then(() => asyncFileCalls.read(...call)),
      release: (fd) => {
        released.push(fd);
        asyncFileCalls.release(fd);
      },
    });
    const read = reader.read(0, 3);
    const closing = reader.close();
    await settled();
    expect(released).toEqual([]);
    resume();
    expect(await read).toEqual(DATA);
    await closing;
    await reader.close();
    expect(released).toHaveLength(1);
  });

  it("is not closed before its version is known", async () => {
    const { reader } = await opened("version");
    const version = await reader.version();
    const [again] = await Promise.all([reader.version(), reader.close()]);
    expect(again).toBe(version);
  });

  it("closes its file again where the file's state cannot be read", async () => {
    const [descriptors, released]: [number[], number[]] = [[], []];
    let isBroken = false;
    const { reader } = await opened("state", {
      ...asyncFileCalls,
      open: async (...call) => {
        const fd = await asyncFileCalls.open(...call);
        descriptors.push(fd);
        return fd;
      },
      stat: (fd) => {
        if (isBroken) throw new Error("no state");
        return asyncFileCalls.stat(fd);
      },
      release: (fd) => {
        released.push(fd);
        asyncFileCalls.release(fd);
      },
    });
    await reader.close();
    isBroken = true;
    await expect(reader.read(0, 1)).rejects.toThrow("no state");
    expect(descriptors).toHaveLength(2);
    expect(released).toEqual(descriptors);
  });
});

describe.runIf(fs.existsSync("/proc/self/fd"))("a file that was opened for a reader", () => {
  it("is closed when the reader is dropped", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const ones = { shape: [1000], chunks: [100], dataType: "uint8", codec: "none", values: () => 1 };
    const path = await given({ at: join(folder.path, "dropped.zip"), ...ones });
    const readSome = async () => {
      const reader = slice(path).bytes().getReader();
      await reader.read();
      reader.releaseLock();
    };
    for (let i = 0; i < 5; i++) await readSome();
    while (openings(path) > 0) {
      collectGarbage();
      await sleep(5);
    }
  });

  it("is opened again by the next read, once for several, if it is the same", async () => {
    const { path, reader } = await opened("again");
    await reader.close();
    expect(openings(path)).toBe(0);
    expect(reader.readSync?.(0, new Uint8Array(1))).toBe(false);
    const reads = await Promise.all([reader.read(0, 2), reader.read(1, 2)]);
    expect(reads).toEqual([DATA.subarray(0, 2), DATA.subarray(1)]);
    expect(openings(path)).toBe(1);
    await reader.close();
    fs.rmSync(path);
    await expect(reader.read(0, 2)).rejects.toMatchObject({ code: "not-found" });
    fs.writeFileSync(path, DATA);
    await expect(reader.read(0, 2)).rejects.toMatchObject({ code: "source-changed" });
    expect(openings(path)).toBe(0);
  });

  it("is closed when a read of an array is aborted, whatever a codec does", async () => {
    let isDecoding = false;
    const never: BytesToBytesCodec = {
      kind: "bytes-to-bytes",
      name: "test-never",
      maxEncodedSize: (size) => size,
      fixedEncodedSize: (size) => size,
      encodeInto: (source, target) => {
        target.set(source);
        return source.length;
      },
      decodeInto: () => {
        isDecoding = true;
        return new Promise<number>(() => {});
      },
    };
    registerCodec({ name: "test-never", kind: "bytes-to-bytes", role: "filter" }, () => never);
    const codecs = [{ name: "bytes" }, { name: "test-never" }];
    const array = { chunks: [2], dataType: "uint8", codecs, values: [1, 2, 3, 4] };
    const path = await given({ at: join(folder.path, "never.zip"), ...array });
    const stop = new AbortController();
    const reading = slice(path, {}, { signal: stop.signal }).read();
    await until(() => isDecoding);
    stop.abort(new Error("enough"));
    await expect(reading).rejects.toMatchObject({ code: "aborted", cause: new Error("enough") });
    expect(openings(path)).toBe(0);
  });
});

describe("FileSink", () => {
  it("is not found where its folder is not there, and refuses a file that is", async () => {
    await expect(FileSink.create(join(folder.path, "no/file"))).rejects.toMatchObject({ code: "not-found" });
    const path = join(folder.path, "file");
    fs.writeFileSync(path, "");
    await expect(FileSink.create(path)).rejects.toMatchObject({ code: "path-not-allowed" });
  });

  it("keeps the order of writes of any size, at once or not, and patches, until it is closed", async () => {
    const pieces = Array.from({ length: 40 }, (_, i) =>
      new Uint8Array(i % 7 === 3 ? 1_000_000 : i % 5 === 2 ? i : i * 13_337).map((_, j) => i + (j >> 8)),
    );
    const path = join(folder.path, "sizes");
    const sink = await FileSink.create(path);
    const writes: Promise<void>[] = [];
    let atOnce = 0;
    for (const [i, piece] of pieces.entries()) {
      if (i % 3 === 0 || !sink.writeSync(piece.subarray(0, 9), piece.subarray(9))) {
        writes.push(sink.write(piece));
        if (i % 2 === 0) await Promise.all(writes);
      } else atOnce++;
      if (i === 20) await sink.patch(2, Uint8Array.of(250, 251));
    }
    await sink.patch(4, Uint8Array.of(252));
    await sink.close();
    const expected = Buffer.concat(pieces);
    expected.set([250, 251, 252], 2);
    expect(atOnce).toBeGreaterThan(8);
    assertBytes(fs.readFileSync(path), expected);
    await sink.abort(new Error("too late"));
    expect(fs.existsSync(path)).toBe(true);
    await expect(sink.write(DATA)).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  it("fails with the system's reason, and leaves nothing", async () => {
    const path = join(folder.path, "full");
    const write: FileCalls["write"] = async () => {
      throw Object.assign(new Error("no space"), { code: "ENOSPC", errno: -28, syscall: "write" });
    };
    const sink = await FileSink.create(path, { files: { ...asyncFileCalls, write } });
    await expect(sink.write(new Uint8Array(1_500_000))).rejects.toMatchObject({ code: "no-space" });
    await sink.abort(new Error("given up"));
    expect(fs.existsSync(path)).toBe(false);
  });
});
