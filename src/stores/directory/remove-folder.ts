import { lstatSync, opendirSync, rmdirSync, unlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { nextTurn } from "../../util/blocking-io.ts";

/** Milliseconds after which other tasks get a turn. */
const TURN_MS = 10;

/**
 * Removes a folder and its contents, if it exists. Files are removed one after the other: `rm` starts with all at
 * once, which takes kilobytes for each.
 */
export async function removeFolder(path: string): Promise<void> {
  // a link is removed itself, not its target
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    await emptyFolder(path, { began: performance.now() }).catch(() => {});
  }
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

async function emptyFolder(path: string, turn: { began: number }): Promise<void> {
  const folder = opendirSync(path, { bufferSize: 1024 });
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      const below = join(path, entry.name);
      if (entry.isDirectory()) {
        await emptyFolder(below, turn);
        rmdirSync(below);
      } else unlinkSync(below);
      if (performance.now() - turn.began < TURN_MS) continue;
      await nextTurn();
      turn.began = performance.now();
    }
  } finally {
    folder.closeSync();
  }
}
