import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asyncFileCalls, type FileCalls } from "../../../src/stores/files/file-calls.ts";
import { FileSink } from "../../../src/stores/files/file-sink.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder();

it("is not found where its folder is not there, and refuses a file that is", async () => {
  await expect(FileSink.create(join(folder.path, "no/file"))).rejects.toMatchObject({ code: "not-found" });
  await writeFile(join(folder.path, "file"), "");
  await expect(FileSink.create(join(folder.path, "file"))).rejects.toMatchObject({
    code: "path-not-allowed",
  });
});

describe("writes of any size", () => {
  const pieces = Array.from({ length: 40 }, (_, i) =>
    new Uint8Array(i % 7 === 3 ? 1_000_000 : (i + 1) * 13_337).map((_, j) => i + (j >> 8)),
  );

  it("are in the file in the order in which they were made, at once or not, and patched", async () => {
    const path = join(folder.path, "sizes");
    const sink = await FileSink.create(path);
    let atOnce = 0;
    for (const [i, piece] of pieces.entries()) {
      if (i % 3 === 0 || !sink.writeSync(piece.subarray(0, 9), piece.subarray(9))) await sink.write(piece);
      else atOnce++;
      if (i === 20) await sink.patch(2, new Uint8Array([250, 251]));
    }
    await sink.close();
    const expected = Buffer.concat(pieces);
    expected.set([250, 251], 2);
    expect(atOnce).toBeGreaterThan(10);
    expect((await readFile(path)).equals(expected)).toBe(true);
  });

  it("fail with the system's reason, and leave nothing", async () => {
    const path = join(folder.path, "full");
    const files: FileCalls = {
      ...asyncFileCalls,
      write: async () => {
        throw Object.assign(new Error("no space"), { code: "ENOSPC", errno: -28, syscall: "write" });
      },
    };
    const sink = await FileSink.create(path, { files });
    await expect(sink.write(new Uint8Array(1_500_000))).rejects.toMatchObject({ code: "no-space" });
    await sink.abort(new Error("given up"));
    await expect(readFile(path)).rejects.toMatchObject({ code: "ENOENT" });
  });
});
