import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeNewFile } from "../../../src/stores/directory/lock-file.ts";
import { asyncFileCalls } from "../../../src/stores/files/file-calls.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder();

it("a lock that cannot be written is not left, where it would stand in the way of all", async () => {
  const path = join(folder.path, "lock");
  const full = { ...asyncFileCalls, write: () => Promise.reject(new Error("no space left")) };
  const writing = writeNewFile({ files: full, fsync: false }, path, Uint8Array.of(1));
  await expect(writing).rejects.toThrow("no space left");
  expect(existsSync(path)).toBe(false);
  expect(await writeNewFile({ files: asyncFileCalls, fsync: false }, path, Uint8Array.of(1))).toBe(true);
});
