import { beforeAll, describe, expect, it } from "vitest";
import { openArray, rechunk, slice } from "../../src/index.ts";
import { FileSystemStore, FilesStore, openZipBlob } from "../../src/stores/file-system.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { storeChecks } from "../../src/stores/testing.ts";
import { zipInStore, zipIntoStream } from "../../src/stores/zip.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { keysOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { FakeFolder, namesBelow } from "./file-system/fake-handles.ts";

type Values = ReadonlyMap<string, Uint8Array>;

describe.each([true, false])("FileSystemStore, where files can be moved: %s", (canMove) => {
  const emptyStore = () => new FileSystemStore(new FakeFolder("data", { canMove }));
  const harness = {
    lists: true,
    empty: async () => emptyStore(),
    async filled(values: Values) {
      const store = emptyStore();
      for (const [key, value] of values) await store.set(key, value);
      return store;
    },
  };
  for (const { name, run } of storeChecks(harness)) it(name, () => run());

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
  const harness = {
    lists: true,
    filled: async (values: Values) =>
      new FilesStore([...values].map(([key, value]) => [key, new File([new Uint8Array(value)], "")])),
  };
  for (const { name, run } of storeChecks(harness)) it(name, () => run());

  it("has the files of a chosen folder below its name, and names those that are no keys", async () => {
    const file = (path: string) =>
      Object.assign(new File(["{}"], path), { webkitRelativePath: `sea.zarr/${path}` });
    const store = FilesStore.ofInput([file("a/.zattrs"), file("b\\c")]);
    expect(store.description).toBe("folder sea.zarr");
    expect(await keysOf(store)).toEqual(["a/.zattrs"]);
    expect(store.findings).toEqual([{ key: "b\\c", message: "file skipped: its path is not a key" }]);
  });
});

describe("a zip in a browser", () => {
  let source: MemoryStore;
  beforeAll(async () => {
    source = await given({ zarrFormat: "v3", dataType: "float32", shape: [40, 500], chunks: [10, 500] });
  });

  /** The zip as a run of another kind of target writes it. */
  async function expected(): Promise<Uint8Array | undefined> {
    const store = new MemoryStore();
    await rechunk(source, zipInStore(store, "x.zip"), { chunks: [40, 100] });
    return store.get("x.zip");
  }

  it("is built in a folder, and read from there and as a blob", async () => {
    const folder = new FakeFolder("site");
    const target = zipInStore(new FileSystemStore(folder), "out/sea.zip");
    await rechunk(source, target, { chunks: [40, 100], verify: true });
    expect(namesBelow(folder)).toEqual(["out/", "out/sea.zip"]);
    const file = await (await (await folder.getDirectoryHandle("out")).getFileHandle("sea.zip")).getFile();
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(await expected());
    for (const place of [target, await openZipBlob(file)]) {
      const { data } = await slice(await openArray(place), [[39, 40], null]).read();
      expect((data as Float32Array)[499]).toBe(19_999);
    }
    await expect(openZipBlob(new Blob(["no zip"]))).rejects.toMatchObject({ code: "corrupt-store" });
  });

  it("streams as the same bytes, in pieces of its own", async () => {
    const parts: Uint8Array[] = [];
    let isClosed = false;
    const stream = new WritableStream<Uint8Array>({
      write: (part) => void parts.push(part), // kept: nobody may write to it again
      close: () => {
        isClosed = true;
      },
    });
    await rechunk(source, zipIntoStream(stream), { chunks: [40, 100] });
    expect(isClosed).toBe(true);
    expect(new Uint8Array(Buffer.concat(parts))).toEqual(await expected());
  });

  it("ends with the stream, and the stream with it", async () => {
    const failure = new Error("the disk is gone");
    const failing = new WritableStream<Uint8Array>({ write: () => Promise.reject(failure) });
    await expect(rechunk(source, zipIntoStream(failing), { chunks: [40, 100] })).rejects.toThrow(
      "the disk is gone",
    );
    const controller = new AbortController();
    let reason: unknown;
    const aborted = new WritableStream<Uint8Array>({
      abort: (why) => {
        reason = why;
      },
    });
    const run = rechunk(source, zipIntoStream(aborted), {
      chunks: [40, 100],
      signal: controller.signal,
      onEvent: ({ type }) => type === "written" && controller.abort(new Error("enough")),
    });
    await expect(run).rejects.toMatchObject({ code: "aborted" });
    expect(reason).toBeDefined();
  });

  it("cannot be verified in a stream, which takes one run", async () => {
    const target = zipIntoStream(new WritableStream());
    await expect(rechunk(source, target, { chunks: [40, 100], verify: true })).rejects.toMatchObject({
      code: "unsupported-operation",
      details: { hint: "Leave `verify` out, and make a new stream for each run." },
    });
    await expect(rechunk(source, target, { chunks: [40, 100] })).rejects.toMatchObject({
      code: "unsupported-operation",
    });
  });

  it("leaves nothing in a folder when it is given up", async () => {
    const folder = new FakeFolder("site");
    const store = new FileSystemStore(folder);
    for (const target of [zipInStore(store, "out/sea.zip"), { store, path: "sea.zarr" }]) {
      const controller = new AbortController();
      const run = rechunk(source, target, {
        chunks: [40, 100],
        signal: controller.signal,
        onEvent: ({ type }) => type === "written" && controller.abort(),
      });
      await expect(run).rejects.toMatchObject({ code: "aborted" });
      expect(namesBelow(folder)).toEqual([]);
    }
  });

  it("is no more than a folder of the browser, where that is the target", async () => {
    const folder = new FakeFolder("site");
    const target = { store: new FileSystemStore(folder), path: "sea.zarr" };
    await rechunk(source, target, { chunks: [40, 100] });
    const { data } = await slice(await openArray(target), [[39, 40], null]).read();
    expect((data as Float32Array)[499]).toBe(19_999);
    await expect(rechunk(source, target, { chunks: [40, 50] })).rejects.toMatchObject({
      code: "target-exists",
    });
    await rechunk(source, target, { chunks: [40, 250], ifExists: "replace" });
    expect(namesBelow(folder).filter((name) => /c\/0\/\d/.test(name))).toHaveLength(2);
  });
});
