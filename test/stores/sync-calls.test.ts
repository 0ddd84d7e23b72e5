import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { asyncFileCalls, type FileCalls } from "../../src/stores/files/file-calls.ts";
import { FileReader } from "../../src/stores/files/file-reader.ts";
import { FileSink } from "../../src/stores/files/file-sink.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { withBlockingCalls } from "../../src/stores/with/blocking-calls.ts";
import { ZipStore } from "../../src/stores/zip/zip-store.ts";
import { ZipWriter } from "../../src/stores/zip/zip-writer.ts";
import { MemorySink } from "./memory-sink.ts";
import { allReject } from "./support.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const text = (value: string) => new TextEncoder().encode(value);
const folder = temporaryFolder();

describe.each([false, true])("a directory without waiting, exclusive: %s", (exclusive) => {
  const make = () => {
    const root = folder.next();
    mkdirSync(root, { recursive: true });
    return { root, store: new DirectoryStore(root, { exclusive }) };
  };

  it("reads and writes small values, also in folders that it has not seen before", async () => {
    const { root, store } = make();
    mkdirSync(`${root}/seen/by/nobody`, { recursive: true });
    writeFileSync(`${root}/seen/by/nobody/a`, "value");
    expect(store.getSync?.("seen/by/nobody/a")).toEqual({ bytes: text("value") });
    await store.set("first", text("1")); // makes sure of the folder
    for (const value of ["value", "other"]) expect(store.setSync?.("a/b/c", text(value))).toBe(true);
    expect(store.setSync?.("a/empty", text(""))).toBe(true);
    const into = new Uint8Array(16);
    expect(store.getSync?.("a/b/c", { into })).toEqual({ bytes: text("other") });
    expect(into.subarray(0, 5)).toEqual(text("other"));
    expect(store.getSync?.("a/empty", { into })).toEqual({ bytes: text("") });
    expect(store.getSync?.("a/b/c", { range: { suffix: 2 } })).toEqual({ bytes: text("er") });
    expect(store.getSync?.("a/b/c", { maxBytes: 4 })).toBeUndefined();
    expect(await store.get("a/b/c")).toEqual(text("other"));
    expect(readdirSync(`${root}/a/b`)).toEqual(["c"]);
  });

  it.each([32_767, 32_768, 100_000])("reads %s bytes into as much room, or more", async (size) => {
    const { store } = make();
    const value = new Uint8Array(size).map((_, i) => i % 251);
    await store.set("a", value);
    const room = new Uint8Array(size + 1);
    for (const into of [room, room.subarray(0, size)])
      expect(store.getSync?.("a", { into: into.fill(255) })).toEqual({ bytes: value });
    for (const into of [room.subarray(0, size - 1), room.subarray(0, size / 2)])
      expect(store.getSync?.("a", { into })).toBeUndefined();
  });

  it("finds what is missing, and leaves to others what is too large, a folder, or no key", async () => {
    const { store } = make();
    const into = new Uint8Array(16);
    for (const key of ["none", "no/folder/none"]) {
      for (const options of [{}, { into }])
        expect(store.getSync?.(key, options)).toEqual({ bytes: undefined });
      expect(store.getSync?.(key, { ifVersion: "1" })).toBeUndefined();
    }
    await store.set("a/b", new Uint8Array(17));
    for (const key of ["a/b", "a"]) expect(store.getSync?.(key, { into })).toBeUndefined();
    expect(store.setSync?.("a", text("x"))).toBe(false);
    expect(() => store.getSync?.("../x", { into })).toThrow(/segment/);
    expect(() => store.setSync?.("../x", text("x"))).toThrow(/segment/);
    expect(await store.size("a/b")).toBe(17);
  });
});

it("a directory follows no symbolic link without looking where it leads", () => {
  const root = folder.next();
  mkdirSync(root, { recursive: true });
  writeFileSync(`${root}/../secret`, "s");
  symlinkSync("../secret", `${root}/link`);
  symlinkSync("..", `${root}/up`);
  const store = new DirectoryStore(root);
  for (const key of ["link", "up/secret"]) expect(store.getSync?.(key)).toBeUndefined();
  expect(store.setSync?.("up/secret", text("x"))).toBe(false);
  expect(new DirectoryStore(root, { fsync: true }).setSync).toBeUndefined();
});

describe("values that a directory copies from another", () => {
  it.each([false, true])("are whole and can be written, or are none (exclusive: %s)", async (exclusive) => {
    const [root, outside] = [folder.next(), folder.next()];
    const from = new DirectoryStore(root);
    const to = new DirectoryStore(outside, { exclusive });
    await from.set("a/b", text("value"));
    chmodSync(`${root}/a/b`, 0o444);
    symlinkSync("a/b", `${root}/fine`);
    symlinkSync(dirname(outside), `${root}/up`);
    const copy = await to.copierFrom(from);
    for (const key of ["a/b", "fine"]) expect(await copy?.({ key }, "x/y")).toBe(5);
    expect(await copy?.({ key: "a/none" }, "x/z")).toBeUndefined();
    await expect(copy?.({ key: "up/store/x/y" }, "x/z")).rejects.toMatchObject({ code: "path-not-allowed" });
    expect(await to.get("x/y")).toEqual(text("value"));
    expect(statSync(`${outside}/x/y`).mode & 0o200).toBe(0o200);
    expect(readdirSync(`${outside}/x`)).toEqual(["y"]);
  });

  it("leave nothing where the disk has no room", async () => {
    const from = new DirectoryStore(folder.next());
    await from.set("a", text("value"));
    const root = folder.next();
    const copies: string[] = [];
    const copyFile: FileCalls["copyFile"] = async (path, to) => {
      copies.push(basename(to));
      await asyncFileCalls.copyFile(path, to);
      throw Object.assign(new Error("no space"), { code: "ENOSPC", syscall: "copyfile" });
    };
    for (const exclusive of [false, true]) {
      const to = new DirectoryStore(root, { exclusive, files: { ...asyncFileCalls, copyFile } });
      const copied = (await to.copierFrom(from))?.({ key: "a" }, "b");
      await expect(copied).rejects.toMatchObject({ code: "no-space", details: { key: "b" } });
      expect(readdirSync(root)).toEqual([]);
    }
    // but for who is alone, under another name first
    expect(copies).toEqual([expect.stringMatching(/^\.zarrflow-/), "b"]);
  });
});

describe("a zip without waiting", () => {
  const newSink = () => {
    const path = folder.next("x.zip");
    mkdirSync(dirname(path), { recursive: true });
    return FileSink.create(path).then((sink) => ({ path, sink }));
  };

  it("takes entries, the same bytes as with, and gives them", async () => {
    const [one, two] = [await newSink(), await newSink()];
    const lengths = Array.from({ length: 500 }, (_, i) => i * 7).toSpliced(250, 0, 2 ** 20);
    const values = lengths.map((length, i) => [`k${i}`, new Uint8Array(length).fill(i)] as const);
    const waiting = new ZipWriter(one.sink, "one");
    for (const [key, bytes] of values) await waiting.set(key, bytes);
    await waiting.finish();
    const atOnce = new ZipWriter(two.sink, "two");
    for (const [key, bytes] of values) {
      if (key === "k100") await atOnce.set(key, bytes);
      else expect(atOnce.setSync?.(key, bytes)).toBe(true);
    }
    expect(atOnce.setSync?.("k0", text("x"))).toBe(false);
    await atOnce.finish();
    expect(atOnce.setSync?.("late", text("x"))).toBe(false);
    const [a, b] = [await FileReader.open(one.path), await FileReader.open(two.path)];
    expect(await b.read(0, b.size)).toEqual(await a.read(0, a.size));
    await a.close();
    const store = await ZipStore.open(b, "two");
    const into = new Uint8Array(8192);
    expect(store.getSync?.("none", { into })).toBeUndefined();
    await store.get("k0");
    expect(store.getSync?.("k3", { into })).toEqual({ bytes: new Uint8Array(21).fill(3) });
    expect(store.getSync?.("k3", { range: { offset: 20 } })).toEqual({ bytes: Uint8Array.of(3) });
    expect(store.getSync?.("k500", { into: into.subarray(0, 10) })).toBeUndefined();
    await store.close();
  });

  it("does not where another value is being written, and where its sink does not", async () => {
    const { path, sink } = await newSink();
    const zip = new ZipWriter(sink, "zip");
    const writer = await zip.openWriter("long");
    expect(zip.setSync?.("a", text("1"))).toBe(false);
    await writer.write(text("2"));
    expect(zip.setSync?.("a", text("1"))).toBe(false);
    await writer.commit();
    expect(zip.setSync?.("a", text("1"))).toBe(true);
    await zip.finish();
    expect(new ZipWriter(new MemorySink(), "zip").setSync).toBeUndefined();
    expect(new ZipWriter(await FileSink.create(`${path}2`), "zip", { deflate: 1 }).setSync).toBeUndefined();
  });
});

describe("withBlockingCalls", () => {
  const value = Uint8Array.of(1, 2, 3);
  const nothing = () => undefined;

  it("reads and writes by calls that block, values and their pieces", async () => {
    const root = folder.next();
    const store = new DirectoryStore(root);
    await store.set("first", value);
    const others = (["get", "set"] as const).map((name) => vi.spyOn(store, name));
    const blocking = withBlockingCalls(store, nothing);
    await blocking.set("a/b", value);
    expect(await blocking.get("a/b")).toEqual(value);
    expect(await blocking.get("a/b", { range: { offset: 1, length: 1 } })).toEqual(Uint8Array.of(2));
    expect(await blocking.get("a/none")).toBeUndefined();
    const writer = await blocking.openWriter("a/c");
    for (const piece of [value, Uint8Array.of(4)]) await writer.write(piece);
    await writer.commit();
    expect(await blocking.get("a/c")).toEqual(Uint8Array.of(1, 2, 3, 4));
    await expect(writer.write(value)).rejects.toMatchObject({ code: "unsupported-operation" });
    for (const spy of others) expect(spy).not.toHaveBeenCalled();
    const given = await blocking.openWriter("a/d");
    await given.write(value);
    await given.abort();
    expect(readdirSync(`${root}/a`)).toEqual(["b", "c"]);
  });

  it("makes calls that wait of a store that has no others", async () => {
    const store = new MemoryStore("m");
    const blocking = withBlockingCalls(store, nothing);
    await blocking.set("a", value);
    const writer = await blocking.openWriter("b");
    await writer.write(value);
    await writer.commit();
    expect([await blocking.get("a"), await store.get("b")]).toEqual([value, value]);
    expect(blocking.getSync).toBeUndefined();
  });

  it("looks up before each call, and makes none once that fails", async () => {
    const store = new DirectoryStore(folder.next());
    await store.set("a", value);
    let stopped: Error | undefined;
    const blocking = withBlockingCalls(store, () => stopped && Promise.reject(stopped));
    const writer = await blocking.openWriter("b");
    expect(blocking.getSync?.("a")).toEqual({ bytes: value });
    stopped = new Error("stopped");
    const calls = [blocking.get("a"), blocking.set("c", value), blocking.openWriter("c"), blocking.size("a")];
    await allReject([...calls, writer.write(value)], stopped);
    expect(blocking.getSync?.("a")).toBeUndefined();
    await writer.abort();
  });

  it("writes pieces at once only when none is on its way", async () => {
    const store = new DirectoryStore(folder.next());
    const writer = await store.openWriter("a");
    const first = writer.write(value);
    expect(writer.writeSync?.(Uint8Array.of(9))).toBe(false);
    await first;
    expect(writer.writeSync?.(Uint8Array.of(4))).toBe(true);
    await writer.commit();
    expect(writer.writeSync?.(Uint8Array.of(9))).toBe(false);
    expect(await store.get("a")).toEqual(Uint8Array.of(1, 2, 3, 4));
  });
});
