// @module-tag slow
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { copy, digest, open, slice, walk } from "../../src/index.ts";
import { DirectoryStore, type DirectoryStoreOptions } from "../../src/stores/directory.ts";
import { asyncFileCalls, type FileCalls } from "../../src/stores/files/file-calls.ts";
import { withBlockingCalls } from "../../src/stores/with/blocking-calls.ts";
import { drain, itemsOf, keysOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { allReject, keepsPromises } from "./support.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();
const ONE = new Uint8Array(1);

const blocking = (root: string, options: DirectoryStoreOptions = {}) =>
  withBlockingCalls(new DirectoryStore(root, options), () => undefined);

function put(path: string, value: Uint8Array): void {
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, value);
}

function made(...names: readonly string[]): string {
  const root = folder.next();
  for (const name of ["", ...names]) fs.mkdirSync(join(root, name), { recursive: true });
  return root;
}

/** All names below a folder. */
const namesIn = (root: string) => fs.readdirSync(root, { recursive: true, encoding: "utf8" }).sort();

/** Calls of the system, of which some are others. */
const calls = (others: Partial<FileCalls>): FileCalls => ({ ...asyncFileCalls, ...others });

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code, syscall: "open" });
}

describe.each([
  ["", (root: string) => new DirectoryStore(root)],
  [", exclusive", (root: string) => new DirectoryStore(root, { exclusive: true })],
  [", blocking", blocking],
  [", exclusive and blocking", (root: string) => blocking(root, { exclusive: true })],
])("DirectoryStore%s", (_, open) => {
  keepsPromises({
    lists: true,
    empty: async () => open(folder.next()),
    async filled(values) {
      const root = folder.next();
      for (const [key, value] of values) put(join(root, key), value);
      return open(root);
    },
  });
});

// V2-80
describe("DirectoryStore on disk", () => {
  it("writes keys as files, and leaves nothing else, nor empty folders", async () => {
    const root = folder.next();
    const store = new DirectoryStore(root);
    for (const key of ["t/0.0", "t/0.0", "u/c/0/1"]) await store.set(key, ONE);
    const writer = await store.openWriter("new/folder/0");
    await writer.write(new Uint8Array(5));
    expect(fs.readdirSync(join(root, "new/folder"))).toHaveLength(1);
    expect(await keysOf(store)).toEqual(["t/0.0", "u/c/0/1"]);
    await writer.abort();
    expect(namesIn(root)).toEqual(["t", "t/0.0", "u", "u/c", "u/c/0", "u/c/0/1"]);
    await store.delete("u/c/0/1");
    expect(namesIn(root)).toEqual(["t", "t/0.0"]);
    await store.delete("t/0.0");
    expect(namesIn(root)).toEqual([]);
  });

  it("renames a folder in one call, and removes those that are left empty", async () => {
    const root = folder.next();
    const renamed: string[] = [];
    const rename = (from: string, to: string) => {
      renamed.push(`${from} ${to}`.replaceAll(`${root}/`, ""));
      return asyncFileCalls.rename(from, to);
    };
    const store = new DirectoryStore(root, { exclusive: true, files: calls({ rename }) });
    for (const key of ["a/b/c/0", "a/b/c/1", "z"]) await store.set(key, ONE);
    await store.rename("a/b/", "x/y/");
    expect(renamed).toEqual(["a/b x/y"]);
    expect(namesIn(root)).toEqual(["x", "x/y", "x/y/c", "x/y/c/0", "x/y/c/1", "z"]);
    await expect(store.rename("x/", "z/")).rejects.toMatchObject({ code: "target-exists" });
  });

  it("refuses names that are kept for temporary files, and does not list them", async () => {
    const root = folder.next();
    const store = new DirectoryStore(root);
    for (const name of [".zarrflow-0123456789ab-1z", ".x.zarr.zarrflow-0123456789ab"]) {
      put(join(root, "a", name), ONE);
      await allReject([store.set(`a/${name}`, ONE), store.get(`${name}/build/0`)], {
        code: "path-not-allowed",
      });
    }
    expect(await keysOf(store)).toEqual([]);
  });

  it("lists thousands of files in one folder", async () => {
    const root = made();
    const names = Array.from({ length: 3000 }, (_, i) => `${i}`);
    for (const name of names) fs.closeSync(fs.openSync(join(root, name), "w"));
    expect(await keysOf(new DirectoryStore(root))).toEqual(names.sort());
  });

  it("has files and their folders on the disk, with fsync, before a call resolves", async () => {
    const [root, synced, paths] = [folder.next(), [] as string[], new Map<number, string>()];
    const files = calls({
      async open(path, flags) {
        const fd = await asyncFileCalls.open(path, flags);
        paths.set(fd, path.slice(root.length).replace(/\.zarrflow-.*/, "TEMPORARY"));
        return fd;
      },
      async sync(fd) {
        synced.push(paths.get(fd) ?? "?");
        await asyncFileCalls.sync(fd);
      },
    });
    const store = new DirectoryStore(root, { fsync: true, files });
    await store.set("a/b", ONE);
    expect(synced.splice(0)).toEqual(["", "/a/TEMPORARY", "/a"]);
    const writer = await store.openWriter("a/c");
    await writer.write(ONE);
    synced.length = 0;
    await writer.commit();
    expect(synced).toEqual(["/a/TEMPORARY", "/a"]);
  });
});

describe("symbolic links", () => {
  function linked(): { root: string; outside: string } {
    const root = folder.next("inside");
    const outside = join(dirname(root), "inside-not");
    put(join(root, "data/0"), ONE);
    put(join(outside, "secret"), Uint8Array.of(9));
    return { root, outside };
  }

  it("that stay inside are followed, by get, size and list, and to the root itself", async () => {
    const { root } = linked();
    fs.symlinkSync("data/0", join(root, "file"));
    fs.symlinkSync("data", join(root, "folder"));
    fs.symlinkSync(root, `${root}-link`);
    for (const store of [new DirectoryStore(root), new DirectoryStore(`${root}-link`)]) {
      for (const key of ["file", "folder/0"])
        expect([await store.get(key), await store.size(key)]).toEqual([ONE, 1]);
      expect(await store.get("folder")).toBeUndefined();
      expect(await keysOf(store)).toEqual(["data/0", "file", "folder/0"]);
    }
  });

  it.each(["file", "folder"])("to a %s outside are refused, whatever is done", async (kind) => {
    const { root, outside } = linked();
    fs.symlinkSync(kind === "file" ? join(outside, "secret") : outside, join(root, "link"));
    const key = kind === "file" ? "link" : "link/secret";
    const store = new DirectoryStore(root);
    const refused = { code: "path-not-allowed", reason: expect.stringMatching(/symbolic link/) };
    const reads = [() => store.get(key), () => store.size(key), () => keysOf(store)];
    const writes = [
      () => store.set("link/new", ONE),
      () => store.openWriter("link/new/0"),
      () => store.delete(key),
    ];
    for (const call of kind === "folder" ? [...reads, ...writes] : reads)
      await expect(call()).rejects.toMatchObject(refused);
    await store.delete("link");
    await store.set("link", Uint8Array.of(5));
    expect(namesIn(outside)).toEqual(["secret"]);
    expect(fs.readFileSync(join(outside, "secret"))).toEqual(Buffer.of(9));
  });

  it("are renamed nowhere, nor what they lead to", async () => {
    const { root, outside } = linked();
    put(join(outside, "b/0"), ONE);
    fs.symlinkSync(outside, join(root, "out"));
    const store = new DirectoryStore(root);
    for (const [from = "", to = ""] of ["out/ in/", "out/b/ in/", "data/ out/a/"].map((pair) =>
      pair.split(" "),
    ))
      await expect(store.rename(from, to)).rejects.toMatchObject({ code: "path-not-allowed" });
    expect(namesIn(outside)).toEqual(["b", "b/0", "secret"]);
    expect(fs.readdirSync(root)).toEqual(["data", "out"]);
  });

  it("that lead back to a folder above are refused in listings", async () => {
    const { root } = linked();
    fs.symlinkSync("..", join(root, "data/up"));
    const mutual = made("a", "b");
    fs.symlinkSync("../b", join(mutual, "a/b"));
    fs.symlinkSync("../a", join(mutual, "b/a"));
    for (const path of [root, mutual])
      await expect(keysOf(new DirectoryStore(path))).rejects.toMatchObject({ code: "path-not-allowed" });
  });

  it("two in each of 22 folders, which come to four million, are refused in listings", async () => {
    const levels = Array.from({ length: 22 }, (_, level) => `${level}`);
    const root = made(...levels, "22");
    for (const level of levels)
      for (const name of ["a", "b"]) fs.symlinkSync(`../${Number(level) + 1}`, join(root, level, name));
    fs.writeFileSync(join(root, "22/value"), "");
    await expect(drain(new DirectoryStore(root).list(""))).rejects.toMatchObject({ code: "resource-limit" });
  });

  it("to one folder that lie side by side are listed, however many", async () => {
    const root = made("shared");
    fs.writeFileSync(join(root, "shared/value"), "");
    for (let i = 0; i < 600; i++) fs.symlinkSync("shared", join(root, `link${i}`));
    expect(await keysOf(new DirectoryStore(root))).toHaveLength(601);
  });

  it("are no missing value while they lead nowhere, but are when they are gone", async () => {
    const root = made();
    fs.symlinkSync("nowhere", join(root, "0"));
    const realpath = (path: string) => {
      fs.rmSync(join(root, "0"), { force: true });
      return asyncFileCalls.realpath(path);
    };
    expect(await new DirectoryStore(root, { files: calls({ realpath }) }).get("0")).toBe(undefined);
  });
});

describe("failures of the system", () => {
  it.each([
    ["EACCES", "access-denied"],
    ["EPERM", "access-denied"],
    ["EROFS", "access-denied"],
    ["ENOSPC", "no-space"],
    ["EDQUOT", "no-space"],
    ["EMFILE", "too-many-files"],
    ["ENFILE", "too-many-files"],
    ["ENAMETOOLONG", "path-not-allowed"],
    ["EIO", "transient"],
  ])("%s is %s, with the key, and is never taken for a missing value", async (system, code) => {
    const root = folder.next();
    put(join(root, "a/0"), ONE);
    const fail = () => Promise.reject(systemError(system));
    const store = new DirectoryStore(root, { files: calls({ open: fail, lstat: fail }), exclusive: true });
    const expected = { code, details: { key: "a/0", store: store.description }, cause: { code: system } };
    await allReject(
      [store.get("a/0"), store.size("a/0"), store.set("a/0", ONE), store.openWriter("a/0")],
      expected,
    );
  });

  it.each([true, false])(
    "a disk that fills up midway leaves no part of a value (exclusive: %s)",
    async (exclusive) => {
      const root = folder.next();
      let room = 1000;
      const files = calls({
        write(fd, bytes, offset, length, position) {
          if (room === 0) throw systemError("ENOSPC");
          const count = Math.min(room, length, 300);
          room -= count;
          return asyncFileCalls.write(fd, bytes, offset, count, position);
        },
      });
      const store = new DirectoryStore(root, { files, exclusive });
      const full = { code: "no-space" };
      await store.set("a/0", new Uint8Array(900).fill(1));
      await expect(store.set("a/1", new Uint8Array(900))).rejects.toMatchObject(full);
      expect(fs.readdirSync(join(root, "a"))).toEqual(["0"]);
      if (!exclusive) await expect(store.set("a/0", new Uint8Array(900))).rejects.toMatchObject(full);
      expect(await store.get("a/0")).toEqual(new Uint8Array(900).fill(1));
      const writer = await store.openWriter("b/0");
      await expect(writer.write(new Uint8Array(10))).rejects.toMatchObject(full);
      await writer.abort();
      expect(fs.readdirSync(root)).toEqual(["a"]);
    },
  );

  it("partial reads are gone on with; of a file that becomes shorter meanwhile they are a short read", async () => {
    const root = folder.next();
    const value = new Uint8Array(1000).map((_, i) => i);
    put(join(root, "0"), value);
    const partly: FileCalls["read"] = (fd, into, offset, length, position) =>
      asyncFileCalls.read(fd, into, offset, Math.min(7, length), position);
    expect(await new DirectoryStore(root, { files: calls({ read: partly }) }).get("0")).toEqual(value);
    const read: FileCalls["read"] = async (...call) => {
      fs.truncateSync(join(root, "0"), 60);
      return asyncFileCalls.read(...call);
    };
    const short = { code: "short-read", details: { key: "0", expected: 1000, found: 60 } };
    await expect(new DirectoryStore(root, { files: calls({ read }) }).get("0")).rejects.toMatchObject(short);
  });

  it("a value where a folder is needed, and the other way round, is said", async () => {
    const store = new DirectoryStore(folder.next());
    await store.set("a/0", ONE);
    for (const key of ["a/0/1", "a"])
      await expect(store.set(key, ONE)).rejects.toMatchObject({ code: "path-not-allowed" });
    expect(await keysOf(store)).toEqual(["a/0"]);
  });

  it("files are closed, also when a call fails", async () => {
    const root = folder.next();
    put(join(root, "0"), new Uint8Array(10));
    const open = new Set<number>();
    const files = calls({
      async open(path, flags) {
        const fd = await asyncFileCalls.open(path, flags);
        open.add(fd);
        return fd;
      },
      release(fd) {
        open.delete(fd);
        asyncFileCalls.release(fd);
      },
      close(fd) {
        open.delete(fd);
        return asyncFileCalls.close(fd);
      },
      rename: () => Promise.reject(systemError("EIO")),
    });
    const store = new DirectoryStore(root, { files });
    await store.get("0");
    const allocate = () => {
      throw new Error("no room");
    };
    await expect(store.get("0", { allocate })).rejects.toThrow("no room");
    await expect(store.set("1", ONE)).rejects.toMatchObject({ code: "transient" });
    const writer = await store.openWriter("2");
    await expect(writer.commit()).rejects.toMatchObject({ code: "transient" });
    await writer.abort();
    expect(open.size).toBe(0);
    expect(fs.readdirSync(root)).toEqual(["0"]);
  });
});

describe.skipIf(process.platform === "win32")("unreadable is not missing", () => {
  /** What can lie at a key of a folder and is no value, and how it is made. */
  const UNREADABLE = {
    "a symbolic link to nothing": (path: string) => fs.symlinkSync("nowhere", path),
    "a link to a link to nothing": (path: string) => {
      fs.symlinkSync("nowhere", `${path}-first`);
      fs.symlinkSync(`${path}-first`, path);
    },
    "a pipe": (path: string) => execFileSync("mkfifo", [path]),
    "a socket": (path: string) =>
      new Promise<void>((resolve) => {
        const server = createServer().listen(path, resolve);
        onTestFinished(() => void server.close());
      }),
  };
  const refused = { code: "corrupt-store" };
  const makeArray = (at: string) =>
    given({ at, chunks: [2], dataType: "uint8", codec: "none", fillValue: 9, values: [1, 2, 3, 4] });

  describe.each(Object.entries(UNREADABLE))("%s", (_, make) => {
    it("is an error of get, size and listings, also where a folder should be", async () => {
      const root = made();
      await make(join(root, "c"));
      const store = new DirectoryStore(root);
      for (const one of [store, withBlockingCalls(store, () => undefined)]) {
        await expect(one.get("c")).rejects.toMatchObject({ ...refused, details: { key: "c" } });
        const range = { offset: 0, length: 1 };
        await allReject([one.get("c", { range }), one.size("c"), one.get("c/0"), one.size("c/0")], refused);
      }
      await expect(drain(store.list(""))).rejects.toMatchObject(refused);
      await expect(drain(store.listDirectory(""))).rejects.toMatchObject(refused);
      expect(store.getSync?.("c", { into: new Uint8Array(10) })).toBe(undefined);
    });

    it("is reported by listings that are asked to go on, but for failures of the disk", async () => {
      const root = made("c");
      await make(join(root, "c/0"));
      fs.writeFileSync(join(root, "c/1"), "");
      const told = new Map<string, unknown>();
      const onUnreadable = (name: string, error: Error) => void told.set(name, error);
      const keys = new DirectoryStore(root).list("", { onUnreadable });
      expect(await keys.getReader().read()).toMatchObject({ value: { key: "c/1" } });
      expect(told.get("c/0")).toMatchObject({ ...refused, details: { key: "c/0" } });
      const lstat = () => Promise.reject(systemError("EIO"));
      const failing = new DirectoryStore(root, { files: calls({ lstat }) });
      await expect(drain(failing.list("", { onUnreadable }))).rejects.toMatchObject({ code: "transient" });
    });

    it("is an error in place of a chunk and of a document, and beside the members of a group", async () => {
      const root = made();
      const [array, target] = [join(root, "a"), join(root, "target")];
      await makeArray(array);
      fs.rmSync(join(array, "c/1"));
      await make(join(array, "c/1"));
      await allReject([slice(array).read(), digest(array).next(), copy(array, target)], refused);
      expect(fs.existsSync(target)).toBe(false);
      fs.writeFileSync(join(root, "zarr.json"), JSON.stringify({ zarr_format: 3, node_type: "group" }));
      await make(join(root, "b"));
      const node = await open(root);
      await expect(node.kind === "group" && drain(walk(node))).rejects.toMatchObject(refused);
      fs.rmSync(join(root, "zarr.json"));
      await make(join(root, "zarr.json"));
      await expect(open(root)).rejects.toMatchObject(refused);
    });
  });

  it("names the link that git-annex made, and how to get its content, which is read when it is there", async () => {
    const root = await makeArray(folder.next());
    fs.mkdirSync(join(root, ".git/annex"), { recursive: true });
    fs.renameSync(join(root, "c/1"), join(root, ".git/annex/KEY"));
    fs.symlinkSync("../.git/annex/KEY", join(root, "c/1"));
    expect(await itemsOf(new DirectoryStore(root), "")).toEqual([1, 2, 3, 4]);
    fs.rmSync(join(root, ".git/annex/KEY"));
    await expect(slice(root).read()).rejects.toMatchObject({
      message: expect.stringMatching(/c\/1.*a symbolic link is broken/),
      details: { hint: expect.stringMatching(/git annex get/) },
    });
  });
});
