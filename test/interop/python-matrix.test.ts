import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copy, digest } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { hasPython, runPython } from "./python.ts";
import { hasShared, shared } from "./shared.ts";
import { writeArray } from "./write-array.ts";
import { type WrittenCase, writtenCases } from "./written-cases.ts";

interface Read {
  readonly path: string;
  readonly error?: string;
  readonly sha256?: string;
  readonly values?: readonly unknown[];
}

describe.runIf(hasPython && hasShared)("a matrix of arrays, written by us", () => {
  let folder: string;
  const byZarrPython = new Map<string, Read>();
  const byZarrPythonInZip = new Map<string, Read>();

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "zarrflow-matrix-"));
    const directory = join(folder, "matrix.zarr");
    const store = new DirectoryStore(directory);
    await store.set(".zgroup", new TextEncoder().encode('{"zarr_format": 2}'));
    for (const { name, zarray, items } of writtenCases) await writeArray(store, name, zarray, items);
    const zip = join(folder, "matrix.zarr.zip");
    await copy(directory, zip);
    for (const [place, read] of [
      [directory, byZarrPython],
      [zip, byZarrPythonInZip],
    ] as const) {
      const { arrays } = (await runPython(`${shared}corpus/verify_written.py`, place).catch(failedReads)) as {
        arrays: Read[];
      };
      for (const array of arrays) read.set(array.path, array);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(writtenCases)("zarr-python reads $name", async (one) => {
    const expected = await expectedOf(one, folder);
    expect(byZarrPython.get(one.name)).toMatchObject(expected);
    expect(byZarrPythonInZip.get(one.name)).toMatchObject(expected);
  });

  test("chunks of nothing but the fill value are left out", () => {
    const stored = ["0.0", "0.1", "0.2", "1.0", "1.1", "1.2", "2.0"].map((key) =>
      existsSync(join(folder, "matrix.zarr/chunks-left-out", key)),
    );
    expect(stored).toEqual([true, true, true, false, false, false, false]);
  });

  test("tensorstore reads what it knows", async () => {
    const known = writtenCases.filter(isKnownToTensorstore);
    expect(known.length).toBeGreaterThan(40);
    const names = known.map(({ name }) => name);
    const read = await runPython("hash_tensorstore.py", join(folder, "matrix.zarr"), ...names);
    const expected = known.map(({ name, items }) => [name, sha256(items as Uint8Array)]);
    expect(read).toEqual(Object.fromEntries(expected));
  });
});

/** The script exits with 1 when it could not read an array; what it printed says which. */
function failedReads(error: { readonly stdout?: string }): unknown {
  if (!error.stdout) throw error;
  return JSON.parse(error.stdout);
}

async function expectedOf({ name, items, lossy }: WrittenCase, folder: string): Promise<object> {
  if (!(items instanceof Uint8Array)) return { values: items };
  if (!lossy) return { sha256: sha256(items) };
  for await (const { sha256 } of digest(join(folder, "matrix.zarr", name))) return { sha256 };
  throw new Error(`${name} was not written`);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
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
