import { describe, expect, it } from "vitest";
import { openZipFile } from "../../src/stores/zip.ts";
import { contentsOf } from "../support/consume.ts";
import { hasShared, shared } from "./shared.ts";

const corpus = `${shared}corpus/`;

describe.runIf(hasShared)("zips of the corpus", () => {
  it.each([
    ...["central-directory-shuffled", "comment", "comment-with-eocd-signature", "data-descriptors-deflated"],
    ...["data-descriptors-stored", "deflated", "directory-entries", "extra-fields", "local-extra-longer"],
    ...["prefix-offsets-absolute", "prefix-offsets-relative", "subfolder", "zip64"],
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
    const [data, japanese] = [".zarray 0 1".split(" "), "日本/😀"];
    expect(Object.keys(await contentsOf(store))).toEqual([
      ...[".zgroup", ...data.map((key) => `données/${key}`)],
      ...["日本/.zgroup", ...data.map((key) => `${japanese}/${key}`)],
    ]);
    await store.close();
  });
});

describe.runIf(hasShared)("bad zips of the corpus", () => {
  const refusedOnOpening = {
    "corrupt-store": [
      "empty",
      "eocd-count-high",
      "eocd-offset-outside",
      "not-zip",
      "truncated",
      "truncated-half",
    ],
    "unsupported-operation": ["eocd-multidisk"],
    "path-not-allowed": ["absolute", "backslash", "dotdot", "dotdot-inside", "drive"].map(
      (how) => `path-${how}`,
    ),
  };
  it.each(Object.entries(refusedOnOpening))("%s on opening: %s", async (code, names) => {
    for (const name of names)
      await expect(openZipFile(`${corpus}bad/zip/${name}.zip`), name).rejects.toMatchObject({ code });
  });

  it.each([
    [
      "corrupt-store",
      true,
      ["crc-mismatch", "crc-mismatch-deflated", "local-offset-outside", "size-too-large"],
    ],
    ["corrupt-store", true, ["usize-lie-deflated"]],
    ["corrupt-store", false, ["local-signature"]],
    ["unsupported-operation", false, ["encrypted", "method-bzip2", "method-unknown"]],
  ] as const)("%s when chunk 0.1 is read (alone: %s): %s", async (code, alone, names) => {
    for (const name of names) {
      const store = await openZipFile(`${corpus}bad/zip/${name}.zip`);
      await expect(store.get("0.1"), name).rejects.toMatchObject({ code, details: { key: "0.1" } });
      if (alone)
        for (const key of [".zarray", "0.0", "1.0", "1.1"]) expect(await store.get(key)).toBeDefined();
      await store.close();
    }
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
