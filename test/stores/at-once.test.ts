// @module-tag long
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { asyncFileCalls, type FileCalls } from "../../src/stores/files/file-calls.ts";
import { FileReader } from "../../src/stores/files/file-reader.ts";
import { FileSink } from "../../src/stores/files/file-sink.ts";
import { ZipStore } from "../../src/stores/zip/zip-store.ts";
import { ZipWriter } from "../../src/stores/zip/zip-writer.ts";
import { MemorySink } from "./memory-sink.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const text = (value: string) => new TextEncoder().encode(value);
const folder = temporaryFolder();
const into = () => ({ into: new Uint8Array(16) });

describe.each([false, true])("a directory, exclusive: %s", (exclusive) => {
  const make = () => {
    const root = folder.next();
    mkdirSync(root, { recursive: true });
    return { root, store: new DirectoryStore(root, { exclusive }) };
  };

  it("reads and writes small values without waiting", async () => {
    const { root, store } = make();
    await store.set("first", text("1"));
    expect(store.setSync?.("a/b/c", text("value"))).toBe(true);
    expect(store.setSync?.("a/b/c", text("other"))).toBe(true);
    expect(store.setSync?.("a/empty", text(""))).toBe(true);
    const room = into();
    expect(store.getSync?.("a/b/c", room)).toEqual({ bytes: text("other") });
    expect(room.into.subarray(0, 5)).toEqual(text("other"));
    expect(store.getSync?.("a/empty", room)).toEqual({ bytes: text("") });
    expect(store.getSync?.("a/b/c")).toEqual({ bytes: text("other") });
    expect(store.getSync?.("a/b/c", { range: { suffix: 2 } })).toEqual({ bytes: text("er") });
    expect(store.getSync?.("a/b/c", { maxBytes: 4 })).toBeUndefined();
    expect(await store.get("a/b/c")).toEqual(text("other"));
    expect(readdirSync(`${root}/a/b`)).toEqual(["c"]);
  });

  it.each([32_767, 32_768, 100_000])("reads %s bytes into more room than they take", async (size) => {
    const { store } = make();
    const value = new Uint8Array(size).map((_, i) => i % 251);
    await store.set("a", value);
    const room = new Uint8Array(size + 1);
    for (const into of [room, room.subarray(0, size)]) {
      into.fill(255);
      expect(store.getSync?.("a", { into })).toEqual({ bytes: value });
    }
    expect(store.getSync?.("a", { into: room.subarray(0, size - 1) })).toBeUndefined();
    expect(store.getSync?.("a", { into: room.subarray(0, size / 2) })).toBeUndefined();
  });

  it("finds what is missing, also in a folder that is not there", () => {
    const { store } = make();
    for (const key of ["none", "no/folder/none"]) {
      expect(store.getSync?.(key)).toEqual({ bytes: undefined });
      expect(store.getSync?.(key, into())).toEqual({ bytes: undefined });
      expect(store.getSync?.(key, { ifVersion: "1" })).toBeUndefined();
    }
  });

  it("reads in folders that it has not seen before", () => {
    const { root, store } = make();
    mkdirSync(`${root}/a/b`, { recursive: true });
    writeFileSync(`${root}/a/b/c`, "value");
    expect(store.getSync?.("a/b/c")).toEqual({ bytes: text("value") });
  });

  it("leaves to others what is too large, a folder, or no key", async () => {
    const { store } = make();
    await store.set("a/b", new Uint8Array(17));
    expect(store.getSync?.("a/b", into())).toBeUndefined();
    expect(store.getSync?.("a", into())).toBeUndefined();
    expect(store.setSync?.("a", text("x"))).toBe(false);
    expect(() => store.getSync?.("../x", into())).toThrow(/segment/);
    expect(() => store.setSync?.("../x", text("x"))).toThrow(/segment/);
    expect(await store.size("a/b")).toBe(17);
  });

  it("copies files of another directory", async () => {
    const [from, to] = [make(), make()];
    await from.store.set("a/b", text("value"));
    chmodSync(`${from.root}/a/b`, 0o444);
    const copy = await to.store.copierFrom(from.store);
    expect(await copy?.({ key: "a/b" }, "x/y")).toBe(5);
    expect(await copy?.({ key: "a/none" }, "x/z")).toBeUndefined();
    expect(await to.store.get("x/y")).toEqual(text("value"));
    expect(statSync(`${to.root}/x/y`).mode & 0o200).toBe(0o200);
    expect(readdirSync(`${to.root}/x`)).toEqual(["y"]);
    await to.store.set("x/y", text("again"));
  });
});

test("no symbolic link is followed without looking where it leads", async () => {
  const root = folder.next();
  mkdirSync(`${root}/inside`, { recursive: true });
  writeFileSync(`${root}/../secret`, "s");
  symlinkSync("../secret", `${root}/link`);
  symlinkSync("..", `${root}/up`);
  writeFileSync(`${root}/inside/a`, "a");
  symlinkSync("inside/a", `${root}/fine`);
  const store = new DirectoryStore(root);
  expect(store.getSync?.("link", into())).toBeUndefined();
  expect(store.getSync?.("up/secret", into())).toBeUndefined();
  expect(store.setSync?.("up/secret", text("x"))).toBe(false);
  const copy = await new DirectoryStore(folder.next()).copierFrom(store);
  await expect(copy?.({ key: "link" }, "x")).rejects.toMatchObject({ code: "path-not-allowed" });
  await expect(copy?.({ key: "up/secret" }, "x")).rejects.toMatchObject({ code: "path-not-allowed" });
  expect(await copy?.({ key: "fine" }, "x")).toBe(1);
});

test("a copy that the disk has no room for leaves nothing", async () => {
  const from = new DirectoryStore(folder.next());
  await from.set("a", text("value"));
  const root = folder.next();
  const files: FileCalls = {
    ...asyncFileCalls,
    async copyFile(path, to) {
      await asyncFileCalls.copyFile(path, to);
      throw Object.assign(new Error("no space"), { code: "ENOSPC", syscall: "copyfile" });
    },
  };
  for (const exclusive of [false, true]) {
    const copy = await new DirectoryStore(root, { exclusive, files }).copierFrom(from);
    await expect(copy?.({ key: "a" }, "b")).rejects.toMatchObject({
      code: "no-space",
      details: { key: "b" },
    });
    expect(readdirSync(root)).toEqual([]);
  }
});

test("with fsync, files and their folders are on the disk before a call resolves", async () => {
  const synced: string[] = [];
  const paths = new Map<number, string>();
  const root = folder.next();
  const files: FileCalls = {
    ...asyncFileCalls,
    async open(path, flags) {
      const fd = await asyncFileCalls.open(path, flags);
      paths.set(fd, path.slice(root.length).replace(/\.zarrflow-.*/, "TEMPORARY"));
      return fd;
    },
    async sync(fd) {
      synced.push(paths.get(fd) ?? "?");
      await asyncFileCalls.sync(fd);
    },
  };
  const store = new DirectoryStore(root, { fsync: true, files });
  await store.set("a/b", text("value"));
  expect(synced).toEqual(["", "/a/TEMPORARY", "/a"]);
  const writer = await store.openWriter("a/c");
  await writer.write(text("value"));
  synced.length = 0;
  await writer.commit();
  expect(synced).toEqual(["/a/TEMPORARY", "/a"]);
  expect(new DirectoryStore(root, { fsync: true }).setSync).toBeUndefined();
});

describe("a zip", () => {
  it("takes entries without waiting, the same bytes as with", async () => {
    const [one, two] = [folder.next("one.zip"), folder.next("two.zip")];
    for (const path of [one, two]) mkdirSync(path.replace(/\/[^/]*$/, ""), { recursive: true });
    const values = Array.from({ length: 500 }, (_, i): [string, Uint8Array] => [
      `k${i}`,
      new Uint8Array(i * 7).fill(i),
    ]);
    values.splice(250, 0, ["huge", new Uint8Array(2 ** 20).fill(250)]);
    const waiting = new ZipWriter(await FileSink.create(one), "one");
    for (const [key, bytes] of values) await waiting.set(key, bytes);
    await waiting.finish();
    const atOnce = new ZipWriter(await FileSink.create(two), "two");
    for (const [key, bytes] of values) {
      if (key === "k100") await atOnce.set(key, bytes);
      else expect(atOnce.setSync?.(key, bytes)).toBe(true);
    }
    expect(atOnce.setSync?.("k0", text("x"))).toBe(false);
    await atOnce.finish();
    expect(atOnce.setSync?.("late", text("x"))).toBe(false);
    const [a, b] = [await FileReader.open(one), await FileReader.open(two)];
    expect(await b.read(0, b.size)).toEqual(await a.read(0, a.size));
    await Promise.all([a.close(), b.close()]);

    const store = await ZipStore.open(await FileReader.open(two), "two");
    const room = { into: new Uint8Array(8192) };
    expect(store.getSync?.("none", room)).toBeUndefined();
    const last = values.at(-1)?.[1] ?? text("");
    await store.get("k0");
    expect(store.getSync?.("k3", room)).toEqual({ bytes: new Uint8Array(21).fill(3) });
    expect(store.getSync?.("k3", { range: { offset: 20 } })).toEqual({ bytes: new Uint8Array([3]) });
    expect(store.getSync?.("k499", { into: room.into.subarray(0, 10) })).toBeUndefined();
    expect(await store.get("k499")).toEqual(last);
    await store.close();
  });

  it("waits where another value is being written, and where its sink does", async () => {
    const path = folder.next("a.zip");
    mkdirSync(path.replace(/\/[^/]*$/, ""), { recursive: true });
    const zip = new ZipWriter(await FileSink.create(path), "zip");
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
