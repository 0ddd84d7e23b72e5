import { beforeAll, describe, expect, it, vi } from "vitest";
import type { OpenSource } from "../../src/hierarchy/open/open.ts";
import { openArray, rechunk, slice } from "../../src/index.ts";
import { FileSystemStore, FilesStore, openZipBlob } from "../../src/stores/file-system.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { zipInStore, zipIntoStream } from "../../src/stores/zip.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { keysOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { FakeFolder, namesBelow } from "./file-system/fake-handles.ts";
import { keepsPromises } from "./support.ts";

describe.each([true, false])("FileSystemStore, where files can be moved: %s", (canMove) => {
  const emptyStore = () => new FileSystemStore(new FakeFolder("data", { canMove }));
  keepsPromises({ lists: true, empty: async () => emptyStore() });

  it("leaves nothing beside what it has written, deleted and given up", async () => {
    const folder = new FakeFolder("data", { canMove });
    const store = new FileSystemStore(folder);
    await store.set("a/b/0", new Uint8Array(3));
    const writer = await store.openWriter("c/0");
    await writer.write(new Uint8Array(600_000));
    expect(namesBelow(folder).filter((name) => /zarrflow-/.test(name)).length).toBeGreaterThan(0);
    expect(await keysOf(store)).toEqual(["a/b/0"]);
    await writer.abort();
    expect(namesBelow(folder).sort()).toEqual(["a/", "a/b/", "a/b/0"]);
    await store.delete("a/b/0");
    expect(namesBelow(folder)).toEqual([]);
  });

  it("writes shared memory", async () => {
    const store = emptyStore();
    const shared = new Uint8Array(new SharedArrayBuffer(4)).fill(7);
    await store.set("a", shared);
    expect(await store.get("a")).toEqual(new Uint8Array([7, 7, 7, 7]));
  });
});

describe("FileSystemStore", () => {
  it.each([
    ["write", "QuotaExceededError", "no-space"],
    ["close", "QuotaExceededError", "no-space"],
    ["write", "NotAllowedError", "access-denied"],
    ["write", "NoModificationAllowedError", "locked"],
    ["write", "InvalidStateError", "transient"],
  ] as const)("says in words that %s failed with %s, and leaves nothing", async (call, name, code) => {
    const folder = new FakeFolder("data");
    const store = new FileSystemStore(folder);
    folder.failures.set(call, name);
    const error = await store.set("a/0", new Uint8Array(9)).catch((reason) => reason);
    expect(isZarrflowError(error, code)).toBe(true);
    expect(error.details).toMatchObject({ key: "a/0", store: "folder data" });
    expect(namesBelow(folder)).toEqual([]);
  });

  it("takes a changed file for a changed source, and a folder in the place of a chunk for an error", async () => {
    const folder = new FakeFolder("data");
    const store = new FileSystemStore(folder);
    await store.set("a/0", new Uint8Array(9));
    await expect(store.get("a", { isLeaf: true })).rejects.toMatchObject({ code: "corrupt-store" });
    let version = "";
    await store.size("a/0", {
      onVersion: (found) => {
        version = found;
      },
    });
    await store.set("a/0", new Uint8Array(9));
    await expect(store.get("a/0", { ifVersion: version })).rejects.toMatchObject({ code: "source-changed" });
    folder.failures.set("getFile", "NotReadableError");
    await expect(store.get("a/0")).rejects.toMatchObject({ code: "source-changed" });
  });

  it("refuses names that are its own", async () => {
    const store = new FileSystemStore(new FakeFolder());
    await expect(store.get(".zarrflow-0123456789ab-1")).rejects.toMatchObject({ code: "path-not-allowed" });
  });
});

describe("FilesStore", () => {
  keepsPromises({
    lists: true,
    filled: async (values) =>
      new FilesStore([...values].map(([key, value]) => [key, new File([new Uint8Array(value)], "")])),
  });

  it("has the files of a chosen folder below its name, and names those that are no keys", async () => {
    const file = (path: string) =>
      Object.assign(new File(["{}"], path), { webkitRelativePath: `sea.zarr/${path}` });
    const store = FilesStore.ofInput([file("a/.zattrs"), file("b\\c")]);
    expect(store.description).toBe("folder sea.zarr");
    expect(await keysOf(store)).toEqual(["a/.zattrs"]);
    expect(store.findings).toEqual([{ key: "b\\c", message: "file skipped: its path is not a valid key" }]);
  });
});

describe("a zip in a browser", () => {
  let source: MemoryStore;
  beforeAll(async () => {
    source = await given({ zarrFormat: "v3", dataType: "float32", shape: [40, 500], chunks: [10, 500] });
  });

  const layout = { chunks: [40, 100] };
  /** What a run ends with that is aborted when it has written something. */
  const aborted = (target: Parameters<typeof rechunk>[1]) => {
    const controller = new AbortController();
    const run = rechunk(source, target, {
      ...layout,
      signal: controller.signal,
      onEvent: ({ type }) => type === "written" && controller.abort(),
    });
    return expect(run).rejects.toMatchObject({ code: "aborted" });
  };
  const lastOf = async (place: OpenSource) => {
    const { data } = await slice(await openArray(place), [[39, 40], null]).read();
    return (data as Float32Array)[499];
  };

  /** The zip as a run of another kind of target writes it. */
  async function expected(): Promise<Uint8Array | undefined> {
    const store = new MemoryStore();
    await rechunk(source, zipInStore(store, "x.zip"), layout);
    return store.get("x.zip");
  }

  it("is built in a folder, and read from there and as a blob", async () => {
    const folder = new FakeFolder("site");
    const target = zipInStore(new FileSystemStore(folder), "out/sea.zip");
    await rechunk(source, target, { ...layout, verify: true });
    expect(namesBelow(folder)).toEqual(["out/", "out/sea.zip"]);
    const file = await (await (await folder.getDirectoryHandle("out")).getFileHandle("sea.zip")).getFile();
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(await expected());
    for (const place of [target, await openZipBlob(file)]) expect(await lastOf(place)).toBe(19_999);
    await expect(openZipBlob(new Blob(["no zip"]))).rejects.toMatchObject({ code: "corrupt-store" });
  });

  it("streams as the same bytes, in pieces of its own", async () => {
    const parts: Uint8Array[] = [];
    const close = vi.fn();
    // kept: nobody may write to it again
    const write = (part: Uint8Array) => void parts.push(part);
    await rechunk(source, zipIntoStream(new WritableStream({ write, close })), layout);
    expect(close).toHaveBeenCalledOnce();
    expect(new Uint8Array(Buffer.concat(parts))).toEqual(await expected());
  });

  it("ends with the stream, and the stream with it", async () => {
    const write = () => Promise.reject(new Error("the disk is gone"));
    const failing = rechunk(source, zipIntoStream(new WritableStream({ write })), layout);
    await expect(failing).rejects.toThrow("the disk is gone");
    const abort = vi.fn();
    await aborted(zipIntoStream(new WritableStream({ abort })));
    expect(abort).toHaveBeenCalledWith(expect.anything());
  });

  it("cannot be verified in a stream, which takes one run", async () => {
    const target = zipIntoStream(new WritableStream());
    const unsupported = { code: "unsupported-operation" };
    const details = { hint: "Omit `verify`, and create a new stream for each run." };
    const verified = rechunk(source, target, { ...layout, verify: true });
    await expect(verified).rejects.toMatchObject({ ...unsupported, details });
    await expect(rechunk(source, target, layout)).rejects.toMatchObject(unsupported);
  });

  it("leaves nothing in a folder when it is given up", async () => {
    const folder = new FakeFolder("site");
    const store = new FileSystemStore(folder);
    for (const target of [zipInStore(store, "out/sea.zip"), { store, path: "sea.zarr" }]) {
      await aborted(target);
      expect(namesBelow(folder)).toEqual([]);
    }
  });

  it("is no more than a folder of the browser, where that is the target", async () => {
    const folder = new FakeFolder("site");
    const target = { store: new FileSystemStore(folder), path: "sea.zarr" };
    await rechunk(source, target, layout);
    expect(await lastOf(target)).toBe(19_999);
    await expect(rechunk(source, target, { chunks: [40, 50] })).rejects.toMatchObject({
      code: "target-exists",
    });
    await rechunk(source, target, { chunks: [40, 250], ifExists: "replace" });
    expect(namesBelow(folder).filter((name) => /c\/0\/\d/.test(name))).toHaveLength(2);
  });
});
