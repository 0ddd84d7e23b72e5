import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { copy } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { hasPython, readByZarrPython, runPython } from "./python.ts";
import { hasShared } from "./shared.ts";
import { writeArray } from "./write-array.ts";
import { type WrittenCase, writtenCases } from "./written-cases.ts";

describe.runIf(hasPython && hasShared)("a matrix of arrays, written by us", () => {
  const folder = temporaryFolder();
  const directory = () => join(folder.path, "matrix.zarr");
  const found = new Map<string, unknown[]>();

  beforeAll(async () => {
    const store = new DirectoryStore(directory());
    await store.set(".zgroup", new TextEncoder().encode('{"zarr_format": 2}'));
    for (const { name, zarray, items } of writtenCases) await writeArray(store, name, zarray, items);
    const zip = join(folder.path, "matrix.zarr.zip");
    await copy(directory(), zip);
    for (const place of [directory(), zip]) {
      const { arrays } = await readByZarrPython(place);
      for (const array of arrays) found.set(array.path, [...(found.get(array.path) ?? []), array]);
    }
  });

  test.each(writtenCases)("zarr-python reads $name, in a zip too", async ({ name, items, lossy }) => {
    const sha256 = async () => (lossy ? digestOf(join(directory(), name)) : hashOf(items));
    const expected = items instanceof Uint8Array ? { sha256: await sha256() } : { values: items };
    expect(found.get(name)).toMatchObject([expected, expected]);
  });

  test("chunks of nothing but the fill value are left out", () => {
    const keys = readdirSync(join(directory(), "chunks-left-out")).filter((name) => !name.startsWith("."));
    expect(keys.sort()).toEqual(["0.0", "0.1", "0.2"]);
  });

  test("tensorstore reads what it knows", async () => {
    const known = writtenCases.filter(isKnownToTensorstore);
    expect(known.length).toBeGreaterThan(40);
    const names = known.map(({ name }) => name);
    const read = await runPython("hash_tensorstore.py", directory(), ...names);
    const expected = known.map(({ name, items }) => [name, hashOf(items)]);
    expect(read).toEqual(Object.fromEntries(expected));
  });
});

function hashOf(items: WrittenCase["items"]): string {
  return createHash("sha256")
    .update(items as Uint8Array)
    .digest("hex");
}

/** Numbers and plain bytes, without filters. */
function isKnownToTensorstore({ name, zarray }: WrittenCase): boolean {
  const { compressor, dtype, filters } = zarray;
  const id = (compressor as { id: string } | null)?.id;
  return (
    filters === null &&
    !name.includes("checksum") &&
    typeof dtype === "string" &&
    /^[<>|][biufc]\d+$/.test(dtype) &&
    [undefined, "blosc", "zlib", "gzip", "zstd"].includes(id)
  );
}
