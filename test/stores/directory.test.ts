// @module-tag slow
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { DirectoryStore, type DirectoryStoreOptions } from "../../src/stores/directory.ts";
import { asyncFileCalls, type FileCalls } from "../../src/stores/files/file-calls.ts";
import { storeChecks } from "../../src/stores/testing.ts";
import { withBlockingCalls } from "../../src/stores/with/blocking-calls.ts";
import { keysOf } from "../support/consume.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();

const blocking = (root: string, options: DirectoryStoreOptions = {}) =>
  withBlockingCalls(new DirectoryStore(root, options), () => undefined);

describe.each([
  ["", (root: string) => new DirectoryStore(root)],
  [", exclusive", (root: string) => new DirectoryStore(root, { exclusive: true })],
  [", blocking", blocking],
  [", exclusive and blocking", (root: string) => blocking(root, { exclusive: true })],
])("DirectoryStore%s", (_, open) => {
  const harness = {
    lists: true,
    empty: async () => open(folder.next()),
    async filled(values: ReadonlyMap<string, Uint8Array>) {
      const root = folder.next();
      for (const [key, value] of values) put(join(root, key), value);
      return open(root);
    },
  };
  for (const { name, run } of storeChecks(harness)) it(name, () => run());
});

// V2-80
describe("DirectoryStore on disk", () => {
  it("writes keys as files and leaves nothing else, also when writers are aborted", async () => {
    const root = folder.next();
    const store = new DirectoryStore(root);
    await store.set("t2m/0.0", new Uint8Array([1]));
    await store.set("t2m/0.0", new Uint8Array([2]));
    await store.set("u/c/0/1", new Uint8Array([3]));
    const writer = await store.openWriter("new/folder/0");
    await writer.write(new Uint8Array(5));
    expect(fs.readdirSync(join(root, "new/folder"))).toHaveLength(1);
    expect(await keysOf(store)).toEqual(["t2m/0.0", "u/c/0/1"]);
    await writer.abort();
    expect(fs.readdirSync(root, { recursive: true }).sort()).toEqual([
      "t2m",
      "t2m/0.0",
      "u",
      "u/c",
      "u/c/0",
      "u/c/0/1",
    ]);
  });

  it("renames a folder in one call, and removes those that are left empty", async () => {
    const root = folder.next();
    const renamed: string[] = [];
    const rename = (from: string, to: string) => {
      renamed.push(`${from} ${to}`.replaceAll(`${root}/`, ""));
      return asyncFileCalls.rename(from, to);
    };
    const store = new DirectoryStore(root, { exclusive: true, files: { ...asyncFileCalls, rename } });
    for (const key of ["a/b/c/0", "a/b/c/1", "z"]) await store.set(key, new Uint8Array(1));
    await store.rename("a/b/", "x/y/");
    expect(renamed).toEqual(["a/b x/y"]);
    expect(fs.readdirSync(root, { recursive: true }).sort()).toEqual([
      "x",
      "x/y",
      "x/y/c",
      "x/y/c/0",
      "x/y/c/1",
      "z",
    ]);
    await expect(store.rename("x/", "z/")).rejects.toMatchObject({ code: "target-exists" });
  });

  it("renames nothing that a symbolic link leads to, and no link", async () => {
    const [root, outside] = [folder.next(), folder.next()];
    put(join(root, "a/0"), new Uint8Array(1));
    put(join(outside, "b/0"), new Uint8Array(1));
    fs.symlinkSync(outside, join(root, "out"));
    const store = new DirectoryStore(root);
    for (const [from, to] of [
      ["out/", "in/"],
      ["out/b/", "in/"],
      ["a/", "out/a/"],
    ] as const) {
      await expect(store.rename(from, to)).rejects.toMatchObject({ code: "path-not-allowed" });
    }
    expect(await keysOf(new DirectoryStore(outside))).toEqual(["b/0"]);
    expect(fs.readdirSync(root).sort()).toEqual(["a", "out"]);
  });

  it("removes folders that deletion leaves empty, but not the root", async () => {
    const root = folder.next();
    const store = new DirectoryStore(root);
    await store.set("a/b/c/0", new Uint8Array(1));
    await store.set("a/1", new Uint8Array(1));
    await store.delete("a/b/c/0");
    expect(fs.readdirSync(join(root, "a"))).toEqual(["1"]);
    await store.delete("a/1");
    expect(fs.readdirSync(root)).toEqual([]);
  });

  it("refuses names that are kept for temporary files, and does not list them", async () => {
    const root = folder.next();
    for (const name of [".zarrflow-0123456789ab-1z", ".x.zarr.zarrflow-0123456789ab"]) {
      put(join(root, "a", name), new Uint8Array(1));
      const store = new DirectoryStore(root);
      await expect(store.set(`a/${name}`, new Uint8Array(1))).rejects.toMatchObject({
        code: "path-not-allowed",
      });
      await expect(store.get(`${name}/build/0`)).rejects.toMatchObject({ code: "path-not-allowed" });
      expect(await keysOf(store)).toEqual([]);
    }
  });

  it("lists thousands of files in one folder", async () => {
    const root = folder.next();
    fs.mkdirSync(root, { recursive: true });
    const names = Array.from({ length: 3000 }, (_, i) => `${i}`);
    for (const name of names) fs.closeSync(fs.openSync(join(root, name), "w"));
    expect(await keysOf(new DirectoryStore(root))).toEqual(names.sort());
  });
});

describe("symbolic links", () => {
  function linked(): { root: string; outside: string } {
    const root = folder.next("inside");
    const outside = join(dirname(root), "inside-not");
    put(join(root, "data/0"), new Uint8Array([1]));
    put(join(outside, "secret"), new Uint8Array([9]));
    return { root, outside };
  }

  it("that stay inside are followed, by get, size and list", async () => {
    const { root } = linked();
    fs.symlinkSync("data/0", join(root, "file"));
    fs.symlinkSync("data", join(root, "folder"));
    const store = new DirectoryStore(root);
    for (const key of ["file", "folder/0"]) {
      expect(await store.get(key)).toEqual(new Uint8Array([1]));
      expect(await store.size(key)).toBe(1);
    }
    expect(await store.get("folder")).toBeUndefined();
    expect(await keysOf(store)).toEqual(["data/0", "file", "folder/0"]);
  });

  it("to the root itself are followed: it may be a link", async () => {
    const { root } = linked();
    const link = `${root}-link`;
    fs.symlinkSync(root, link);
    fs.symlinkSync("0", join(root, "data/1"));
    const store = new DirectoryStore(link);
    expect(await store.get("data/1")).toEqual(new Uint8Array([1]));
    expect(await keysOf(store)).toEqual(["data/0", "data/1"]);
  });

  it.each(["file", "folder"])("to a %s outside are refused, whatever is done", async (kind) => {
    const { root, outside } = linked();
    fs.symlinkSync(kind === "file" ? join(outside, "secret") : outside, join(root, "link"));
    const key = kind === "file" ? "link" : "link/secret";
    const store = new DirectoryStore(root);
    const refused = { code: "path-not-allowed", reason: expect.stringMatching(/symbolic link/) };
    await expect(store.get(key)).rejects.toMatchObject(refused);
    await expect(store.size(key)).rejects.toMatchObject(refused);
    await expect(keysOf(store)).rejects.toMatchObject(refused);
    if (kind === "folder") {
      await expect(store.set("link/new", new Uint8Array(1))).rejects.toMatchObject(refused);
      await expect(store.openWriter("link/new/0")).rejects.toMatchObject(refused);
      await expect(store.delete(key)).rejects.toMatchObject(refused);
    }
    await store.delete("link");
    await store.set("link", new Uint8Array([5]));
    expect(fs.readdirSync(outside)).toEqual(["secret"]);
    expect(fs.readFileSync(join(outside, "secret"))).toEqual(Buffer.from([9]));
  });

  it("that lead back to a folder above are refused in listings", async () => {
    const { root } = linked();
    fs.symlinkSync("..", join(root, "data/up"));
    await expect(keysOf(new DirectoryStore(root))).rejects.toMatchObject({ code: "path-not-allowed" });

    const { root: mutual } = linked();
    fs.mkdirSync(join(mutual, "a"));
    fs.mkdirSync(join(mutual, "b"));
    fs.symlinkSync("../b", join(mutual, "a/b"));
    fs.symlinkSync("../a", join(mutual, "b/a"));
    await expect(keysOf(new DirectoryStore(mutual))).rejects.toMatchObject({ code: "path-not-allowed" });
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
    put(join(root, "a/0"), new Uint8Array(1));
    const fail = () => Promise.reject(systemError(system));
    const failing: FileCalls = { ...asyncFileCalls, open: fail, lstat: fail };
    const store = new DirectoryStore(root, { files: failing, exclusive: true });
    const expected = { code, details: { key: "a/0", store: store.description }, cause: { code: system } };
    await expect(store.get("a/0")).rejects.toMatchObject(expected);
    await expect(store.size("a/0")).rejects.toMatchObject(expected);
    await expect(store.set("a/0", new Uint8Array(1))).rejects.toMatchObject(expected);
    await expect(store.openWriter("a/0")).rejects.toMatchObject(expected);
  });

  it.each([true, false])(
    "a disk that fills up midway leaves no part of a value (exclusive: %s)",
    async (exclusive) => {
      const root = folder.next();
      let room = 1000;
      const files: FileCalls = {
        ...asyncFileCalls,
        write(fd, bytes, offset, length, position) {
          if (room === 0) throw systemError("ENOSPC");
          const count = Math.min(room, length, 300);
          room -= count;
          return asyncFileCalls.write(fd, bytes, offset, count, position);
        },
      };
      const store = new DirectoryStore(root, { files, exclusive });
      await store.set("a/0", new Uint8Array(900).fill(1));
      await expect(store.set("a/1", new Uint8Array(900))).rejects.toMatchObject({ code: "no-space" });
      expect(fs.readdirSync(join(root, "a"))).toEqual(["0"]);
      if (!exclusive) {
        await expect(store.set("a/0", new Uint8Array(900))).rejects.toMatchObject({ code: "no-space" });
      }
      expect(await store.get("a/0")).toEqual(new Uint8Array(900).fill(1));

      const writer = await store.openWriter("b/0");
      await expect(writer.write(new Uint8Array(10))).rejects.toMatchObject({ code: "no-space" });
      await writer.abort();
      expect(fs.readdirSync(root)).toEqual(["a"]);
    },
  );

  it("a file that becomes shorter while it is read is a short read", async () => {
    const root = folder.next();
    put(join(root, "0"), new Uint8Array(100));
    const files: FileCalls = {
      ...asyncFileCalls,
      async read(fd, into, offset, length, position) {
        fs.truncateSync(join(root, "0"), 60);
        return asyncFileCalls.read(fd, into, offset, length, position);
      },
    };
    await expect(new DirectoryStore(root, { files }).get("0")).rejects.toMatchObject({
      code: "short-read",
      details: { key: "0", expected: 100, found: 60 },
    });
  });

  it("partial reads are gone on with", async () => {
    const root = folder.next();
    const value = new Uint8Array(1000).map((_, i) => i);
    put(join(root, "0"), value);
    const files: FileCalls = {
      ...asyncFileCalls,
      read: (fd, into, offset, length, position) =>
        asyncFileCalls.read(fd, into, offset, Math.min(7, length), position),
    };
    expect(await new DirectoryStore(root, { files }).get("0")).toEqual(value);
  });

  it("a value where a folder is needed, and the other way round, is said", async () => {
    const store = new DirectoryStore(folder.next());
    await store.set("a/0", new Uint8Array(1));
    await expect(store.set("a/0/1", new Uint8Array(1))).rejects.toMatchObject({ code: "path-not-allowed" });
    await expect(store.set("a", new Uint8Array(1))).rejects.toMatchObject({ code: "path-not-allowed" });
    expect(await keysOf(store)).toEqual(["a/0"]);
  });

  it("files are closed, also when a call fails", async () => {
    const root = folder.next();
    put(join(root, "0"), new Uint8Array(10));
    const open = new Set<number>();
    const files: FileCalls = {
      ...asyncFileCalls,
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
    };
    const store = new DirectoryStore(root, { files });
    await store.get("0");
    const noRoom = () => {
      throw new Error("no room");
    };
    await expect(store.get("0", { allocate: noRoom })).rejects.toThrow("no room");
    await expect(store.set("1", new Uint8Array(1))).rejects.toMatchObject({ code: "transient" });
    const writer = await store.openWriter("2");
    await expect(writer.commit()).rejects.toMatchObject({ code: "transient" });
    await writer.abort();
    expect(open.size).toBe(0);
    expect(fs.readdirSync(root)).toEqual(["0"]);
  });
});

function put(path: string, value: Uint8Array): void {
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, value);
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code, syscall: "open" });
}
