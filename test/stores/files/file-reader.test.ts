// @module-tag registers
import fs from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { BytesToBytesCodec } from "../../../src/codecs/codec.ts";
import { registerCodec } from "../../../src/codecs/index.ts";
import { slice } from "../../../src/index.ts";
import { asyncFileCalls } from "../../../src/stores/files/file-calls.ts";
import { FileReader } from "../../../src/stores/files/file-reader.ts";
import { given } from "../../support/given.ts";
import { settled, until } from "../../support/until.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder();

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

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

const ONES = { shape: [1000], chunks: [100], dataType: "uint8", codec: "none", values: () => 1 };
const makeZip = (name: string) => given({ at: join(folder.path, name), ...ONES });

describe.runIf(fs.existsSync("/proc/self/fd"))("a file that was opened for a reader", () => {
  it("is closed when the reader is dropped", async () => {
    const path = await makeZip("dropped.zip");
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

  it("is closed once, when nothing is read from it any more", async () => {
    const path = join(folder.path, "plain");
    fs.writeFileSync(path, new Uint8Array(10));
    let resume = () => {};
    const waiting = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const released: number[] = [];
    const reader = await FileReader.open(path, {
      ...asyncFileCalls,
      read: (...call) => waiting.then(() => asyncFileCalls.read(...call)),
      release: (fd) => {
        released.push(fd);
        asyncFileCalls.release(fd);
      },
    });
    const read = reader.read(0, 10);
    const closing = reader.close();
    await settled();
    expect(released).toEqual([]);
    resume();
    expect((await read).length).toBe(10);
    await closing;
    await reader.close();
    expect(released.length).toBe(1);
  });

  it("is opened again by the next read, once for several, if it is the same", async () => {
    const path = join(folder.path, "again");
    fs.writeFileSync(path, Uint8Array.of(1, 2, 3));
    const reader = await FileReader.open(path);
    await reader.close();
    expect(openings(path)).toBe(0);
    expect(reader.readSync?.(0, new Uint8Array(1))).toBe(false);
    const reads = await Promise.all([reader.read(0, 2), reader.read(1, 2)]);
    expect(reads).toEqual([Uint8Array.of(1, 2), Uint8Array.of(2, 3)]);
    expect(openings(path)).toBe(1);
    await reader.close();
    expect(openings(path)).toBe(0);
    fs.rmSync(path);
    await expect(reader.read(0, 2)).rejects.toMatchObject({ code: "not-found" });
    fs.writeFileSync(path, Uint8Array.of(1, 2, 3));
    await expect(reader.read(0, 2)).rejects.toMatchObject({ code: "source-changed" });
    expect(openings(path)).toBe(0);
  });
});

describe("a file that is opened again", () => {
  const written = async (name: string, files = asyncFileCalls) => {
    const path = join(folder.path, name);
    fs.writeFileSync(path, Uint8Array.of(1, 2, 3));
    return FileReader.open(path, files);
  };

  it("is not closed before its version is known", async () => {
    const reader = await written("version");
    const version = await reader.version();
    const [again] = await Promise.all([reader.version(), reader.close()]);
    expect(again).toBe(version);
  });

  it("is closed where its state cannot be read", async () => {
    const [opened, released]: number[][] = [[], []];
    let isBroken = false;
    const reader = await written("state", {
      ...asyncFileCalls,
      open: async (...call) => {
        const fd = await asyncFileCalls.open(...call);
        opened?.push(fd);
        return fd;
      },
      stat: (fd) => {
        if (isBroken) throw new Error("no state");
        return asyncFileCalls.stat(fd);
      },
      release: (fd) => {
        released?.push(fd);
        asyncFileCalls.release(fd);
      },
    });
    await reader.close();
    isBroken = true;
    await expect(reader.read(0, 1)).rejects.toThrow();
    expect(opened).toHaveLength(2);
    expect(released).toEqual(opened);
  });
});

describe("slice().read()", () => {
  it("ends when it is aborted, whatever a codec does, and closes its file", async () => {
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
    const reason = new Error("enough");
    stop.abort(reason);
    await expect(reading).rejects.toMatchObject({ code: "aborted", cause: reason });
    if (fs.existsSync("/proc/self/fd")) expect(openings(path)).toBe(0);
  });
});
