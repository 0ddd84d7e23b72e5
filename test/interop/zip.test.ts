import { describe, expect, it } from "vitest";
import { openZipFile } from "../../src/stores/zip.ts";
import { contentsOf } from "../support/consume.ts";
import { hasShared, shared } from "./shared.ts";

const corpus = `${shared}corpus/`;

/** Every value of a store by key, as hexadecimal text. */
describe.runIf(hasShared)("zips of the corpus", () => {
  it.each([
    "central-directory-shuffled",
    "comment",
    "comment-with-eocd-signature",
    "data-descriptors-deflated",
    "data-descriptors-stored",
    "deflated",
    "directory-entries",
    "extra-fields",
    "local-extra-longer",
    "prefix-offsets-absolute",
    "prefix-offsets-relative",
    "subfolder",
    "zip64",
  ])("%s holds what stored holds", async (name) => {
    const plain = await openZipFile(`${corpus}data/v2/zip/stored.zip`);
    const root = name === "subfolder" ? "inner.zarr" : "";
    const store = await openZipFile(`${corpus}data/v2/zip/${name}.zip`, { root });
    const expected = await contentsOf(plain);
    expect(Object.keys(expected)).toHaveLength(26);
    expect(await contentsOf(store)).toEqual(expected);
    expect(store.findings).toEqual([]);
    await Promise.all([plain.close(), store.close()]);
  });

  it.each([
    ["v2/zip/duplicates", 5, 26],
    ["v2/zip/by-zarr3", 6, 28],
    ["v3/zip/stored", 3, 21],
  ])("%s has names that occur again, which are reported", async (path, findings, keys) => {
    const store = await openZipFile(`${corpus}data/${path}.zip`);
    expect(store.findings).toHaveLength(findings);
    expect(Object.keys(await contentsOf(store))).toHaveLength(keys);
    await store.close();
  });

  it("utf8-names has the names that were written", async () => {
    const store = await openZipFile(`${corpus}data/v2/zip/utf8-names.zip`);
    expect(Object.keys(await contentsOf(store))).toEqual([
      ".zgroup",
      "données/.zarray",
      "données/0",
      "données/1",
      "日本/.zgroup",
      "日本/😀/.zarray",
      "日本/😀/0",
      "日本/😀/1",
    ]);
    await store.close();
  });
});

describe.runIf(hasShared)("bad zips of the corpus", () => {
  it.each([
    ["empty", "corrupt-store"],
    ["eocd-count-high", "corrupt-store"],
    ["eocd-multidisk", "unsupported-operation"],
    ["eocd-offset-outside", "corrupt-store"],
    ["not-zip", "corrupt-store"],
    ["path-absolute", "path-not-allowed"],
    ["path-backslash", "path-not-allowed"],
    ["path-dotdot", "path-not-allowed"],
    ["path-dotdot-inside", "path-not-allowed"],
    ["path-drive", "path-not-allowed"],
    ["truncated", "corrupt-store"],
    ["truncated-half", "corrupt-store"],
  ])("%s is refused on opening: %s", async (name, code) => {
    await expect(openZipFile(`${corpus}bad/zip/${name}.zip`)).rejects.toMatchObject({ code });
  });

  it.each([
    ["crc-mismatch", "corrupt-store", true],
    ["crc-mismatch-deflated", "corrupt-store", true],
    ["encrypted", "unsupported-operation", false],
    ["local-offset-outside", "corrupt-store", true],
    ["local-signature", "corrupt-store", false],
    ["method-bzip2", "unsupported-operation", false],
    ["method-unknown", "unsupported-operation", false],
    ["size-too-large", "corrupt-store", true],
    ["usize-lie-deflated", "corrupt-store", true],
  ])("%s is refused when chunk 0.1 is read: %s (alone: %s)", async (name, code, alone) => {
    const store = await openZipFile(`${corpus}bad/zip/${name}.zip`);
    await expect(store.get("0.1")).rejects.toMatchObject({ code, details: { key: "0.1" } });
    if (alone) for (const key of [".zarray", "0.0", "1.0", "1.1"]) expect(await store.get(key)).toBeDefined();
    await store.close();
  });

  it.each(["path-dot-segments", "path-double-slash", "path-empty-name", "path-nul"])(
    "%s is read without the entry in question, which is reported",
    async (name) => {
      const store = await openZipFile(`${corpus}bad/zip/${name}.zip`);
      expect(Object.keys(await contentsOf(store))).toEqual([".zarray", "0.0", "0.1", "1.0", "1.1"]);
      expect(store.findings).toHaveLength(1);
      await store.close();
    },
  );

  it("a symbolic link among the entries is reported, and an error to whoever comes to it", async () => {
    const store = await openZipFile(`${corpus}bad/zip/symlink.zip`);
    expect(store.findings).toHaveLength(1);
    await expect(contentsOf(store)).rejects.toMatchObject({
      code: "corrupt-store",
      details: { key: "link" },
    });
    expect(await store.get("0.0")).toBeDefined();
    await store.close();
  });
});
