import { constants } from "node:fs";
import { type FileCalls, writeFully } from "../file-calls.ts";
import type { StoreWriter } from "../store.ts";

const { O_CREAT, O_EXCL, O_TRUNC, O_WRONLY } = constants;

/** Writes `bytes` to `path`, in place of what is there; after a failure nothing is there. */
export async function writeFile(files: FileCalls, path: string, bytes: Uint8Array): Promise<void> {
  const fd = await files.open(path, O_WRONLY | O_CREAT | O_TRUNC);
  try {
    try {
      await writeFully(files, fd, bytes, 0);
    } finally {
      await files.close(fd);
    }
  } catch (error) {
    await ignoringFailure(() => files.unlink(path));
    throw error;
  }
}

/** Writes `bytes` to a new file `temporary`, then renames it to `path`; after a failure `path` is as it was. */
export async function replaceFile(
  files: FileCalls,
  temporary: string,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const writer = await openFileWriter(files, temporary, path);
  try {
    await writer.write(bytes);
    await writer.commit();
  } catch (error) {
    await ignoringFailure(() => writer.abort());
    throw error;
  }
}

/** Writes to a new file `temporary`, which `commit` renames to `path` and `abort` removes. */
export async function openFileWriter(
  files: FileCalls,
  temporary: string,
  path: string,
): Promise<StoreWriter> {
  const fd = await files.open(temporary, O_WRONLY | O_CREAT | O_EXCL);
  let position = 0;
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    await files.close(fd);
  };
  return {
    async write(bytes) {
      await writeFully(files, fd, bytes, position);
      position += bytes.length;
    },
    async commit() {
      await close();
      await files.rename(temporary, path);
    },
    async abort() {
      try {
        await close();
      } finally {
        await files.unlink(temporary);
      }
    },
  };
}

/** Tidies up after a failure, which is what the caller hears of. */
async function ignoringFailure(step: () => void | Promise<void>): Promise<void> {
  try {
    await step();
  } catch {}
}
