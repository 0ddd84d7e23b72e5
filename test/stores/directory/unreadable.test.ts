// @module-tag slow
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { copy, digest, open, slice, walk } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { asyncFileCalls } from "../../../src/stores/files/file-calls.ts";
import type { Store } from "../../../src/stores/store.ts";
import { withBlockingCalls } from "../../../src/stores/with/blocking-calls.ts";
import { all, keysOf } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const { next } = temporaryFolder();

/** What can lie at a key of a folder and is no value, and how it is made. */
const UNREADABLE = {
  "a symbolic link to nothing": (path: string) => fs.symlinkSync("nowhere", path),
  "a link to a link to nothing": (path: string) => {
    fs.symlinkSync("nowhere", `${path}-first`);
    fs.symlinkSync(`${path}-first`.slice(`${path}-first`.lastIndexOf("/") + 1), path);
  },
  "a pipe": (path: string) => execFileSync("mkfifo", [path]),
  "a socket": (path: string) =>
    new Promise<void>((resolve) => {
      const server = createServer().listen(path, resolve);
      onTestFinished(() => void server.close());
    }),
};

const ARRAY = { chunks: [2], dataType: "uint8", codec: "none", fillValue: 9, values: [1, 2, 3, 4] };
const makeArray = (at: string) => given({ at, ...ARRAY });

describe.skipIf(process.platform === "win32")("unreadable is not missing", () => {
  const refused = { code: "corrupt-store" };

  describe.each(Object.entries(UNREADABLE))("%s", (_, make) => {
    it.each([
      ["get", <S extends Store>(store: S) => store],
      ["get, by calls that block", <S extends Store>(store: S) => withBlockingCalls(store, () => undefined)],
    ])("is an error of %s and of size", async (_name, wrapped) => {
      const root = next();
      fs.mkdirSync(root, { recursive: true });
      await make(join(root, "0"));
      const store = wrapped(new DirectoryStore(root));
      await expect(store.get("0")).rejects.toMatchObject({ ...refused, details: { key: "0" } });
      await expect(store.get("0", { range: { offset: 0, length: 1 } })).rejects.toMatchObject(refused);
      await expect(store.size("0")).rejects.toMatchObject(refused);
    });

    it("is an error where a folder should be", async () => {
      const root = next();
      fs.mkdirSync(root, { recursive: true });
      await make(join(root, "c"));
      const store = new DirectoryStore(root);
      await expect(store.get("c/0")).rejects.toMatchObject(refused);
      await expect(store.size("c/0")).rejects.toMatchObject(refused);
    });

    it("is an error of listings, and never read at once", async () => {
      const root = next();
      fs.mkdirSync(root, { recursive: true });
      await make(join(root, "0"));
      const store = new DirectoryStore(root);
      const listed = async (keys: AsyncIterable<unknown>) => {
        for await (const _key of keys);
      };
      await expect(listed(store.list(""))).rejects.toMatchObject(refused);
      await expect(listed(store.listDirectory(""))).rejects.toMatchObject(refused);
      expect(store.getSync?.("0", { into: new Uint8Array(10) })).toBe(undefined);
    });

    it("is reported by listings that are asked to go on, but for failures of the disk", async () => {
      const root = next();
      fs.mkdirSync(join(root, "c"), { recursive: true });
      await make(join(root, "c/0"));
      fs.writeFileSync(join(root, "c/1"), "");
      const told: unknown[] = [];
      const onUnreadable = (name: string, error: Error) => told.push(name, error);
      const keys = await all(new DirectoryStore(root).list("", { onUnreadable }));
      expect(keys.map(({ key }) => key)).toEqual(["c/1"]);
      const at = told.indexOf("c/0");
      expect(told.slice(at, at + 2)).toEqual([
        "c/0",
        expect.objectContaining({ ...refused, details: expect.objectContaining({ key: "c/0" }) }),
      ]);
      const lstat = () => Promise.reject(Object.assign(new Error("EIO"), { code: "EIO", syscall: "lstat" }));
      const failing = new DirectoryStore(root, { files: { ...asyncFileCalls, lstat } });
      await expect(failing.list("", { onUnreadable }).getReader().read()).rejects.toMatchObject({
        code: "transient",
      });
    });

    it("is an error in place of a chunk: of slice, digest and copy", async () => {
      const root = next();
      await makeArray(root);
      fs.rmSync(join(root, "c/1"));
      await make(join(root, "c/1"));
      await expect(slice(root).read()).rejects.toMatchObject(refused);
      await expect(digest(root).next()).rejects.toMatchObject(refused);
      const target = next();
      fs.mkdirSync(join(target, ".."), { recursive: true });
      await expect(copy(root, target)).rejects.toMatchObject(refused);
      expect(fs.existsSync(target)).toBe(false);
    });

    it("is an error in place of a document, and beside the members of a group", async () => {
      const root = next();
      await makeArray(join(root, "a"));
      fs.writeFileSync(join(root, "zarr.json"), JSON.stringify({ zarr_format: 3, node_type: "group" }));
      await make(join(root, "b"));
      const node = await open(root);
      const members = async () => {
        if (node.kind === "group") for await (const _member of walk(node));
      };
      await expect(members()).rejects.toMatchObject(refused);
      fs.rmSync(join(root, "zarr.json"));
      await make(join(root, "zarr.json"));
      await expect(open(root)).rejects.toMatchObject(refused);
    });
  });

  it("reads chunks that are links to values, as git-annex makes them", async () => {
    const root = next();
    await makeArray(root);
    fs.mkdirSync(join(root, ".git/annex"), { recursive: true });
    fs.renameSync(join(root, "c/1"), join(root, ".git/annex/KEY"));
    fs.symlinkSync("../.git/annex/KEY", join(root, "c/1"));
    expect([...(await slice(root).read()).data]).toEqual([1, 2, 3, 4]);
  });

  it("names the link, and how to get its content", async () => {
    const root = next();
    await makeArray(root);
    fs.rmSync(join(root, "c/1"));
    fs.symlinkSync("../.git/annex/KEY", join(root, "c/1"));
    const error = await slice(root)
      .read()
      .catch((reason) => reason);
    expect(error.message).toMatch(/c\/1.*a symbolic link is broken/);
    expect(error.details.hint).toMatch(/git annex get/);
  });

  it("is not the error of a link that is gone", async () => {
    const root = next();
    fs.mkdirSync(root, { recursive: true });
    fs.symlinkSync("nowhere", join(root, "0"));
    const files = {
      ...asyncFileCalls,
      realpath: (path: string) => {
        fs.rmSync(join(root, "0"), { force: true });
        return asyncFileCalls.realpath(path);
      },
    };
    expect(await new DirectoryStore(root, { files }).get("0")).toBe(undefined);
  });

  it("refuses two links in each of 22 folders, which come to four million", async () => {
    const root = next();
    for (let level = 0; level < 22; level++) {
      fs.mkdirSync(join(root, `${level}`), { recursive: true });
      for (const name of ["a", "b"]) fs.symlinkSync(`../${level + 1}`, join(root, `${level}`, name));
    }
    fs.mkdirSync(join(root, "22"));
    fs.writeFileSync(join(root, "22/value"), "");
    const listed = async (keys: AsyncIterable<unknown>) => {
      for await (const _key of keys);
    };
    const error = await listed(new DirectoryStore(root).list("")).catch((reason) => reason);
    expect(error).toMatchObject({ code: "resource-limit" });
  });

  it("lists many links to one folder that lie side by side", async () => {
    const root = next();
    fs.mkdirSync(join(root, "shared"), { recursive: true });
    fs.writeFileSync(join(root, "shared/value"), "");
    for (let i = 0; i < 600; i++) fs.symlinkSync("shared", join(root, `link${i}`));
    expect((await keysOf(new DirectoryStore(root))).length).toBe(601);
  });
});
