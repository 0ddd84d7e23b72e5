import { mkdir, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { removeFolder } from "../../../stores/directory/remove-folder.ts";
import { DirectoryStore } from "../../../stores/directory.ts";
import { fileError } from "../../../stores/files/file-error.ts";
import { formatBytes } from "../../../util/byte-size.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import {
  isKeptBy,
  removeAbandoned,
  SCRATCH,
  scratchName,
  signJointScratch,
  signScratch,
} from "./abandoned.node.ts";
import type { OpenScratchOptions, Scratch } from "./scratch.ts";

/** Mode of a scratch folder: other users have no access. */
const PRIVATE = 0o700;

/**
 * Makes a new folder for scratch objects in `parent`, which is created if it is missing, or takes over the folder that
 * an earlier run left. Removes folders that killed runs left there and that no run can resume.
 *
 * @throws `no-space` if fewer than `bytes` are free; `access-denied`.
 */
export async function openScratchFolder(
  parent = tmpdir(),
  { bytes, keptBy, left, joint }: Omit<OpenScratchOptions, "place">,
): Promise<Scratch> {
  if (joint) return openJointFolder(resolve(parent), joint);
  const details = { store: `directory ${parent}` };
  let path = join(resolve(parent), scratchName());
  try {
    await mkdir(parent, { recursive: true });
    const kept = left?.kind === "directory" && (await isKeptBy(left.path, keptBy)) ? left.path : undefined;
    await removeAbandoned(resolve(parent), { keptBy, left: kept });
    if (kept !== undefined) path = kept;
    else {
      await assertSpace(parent, bytes);
      await mkdir(path, { mode: PRIVATE });
    }
    await signScratch(path, keptBy);
  } catch (error) {
    throw fileError(error, details);
  }
  const remove = async (folder: string) => {
    try {
      await removeFolder(folder);
    } catch (error) {
      throw fileError(error, details);
    }
  };
  return {
    store: new DirectoryStore(path, { exclusive: true }),
    spec: { kind: "directory", path },
    removePass: (pass) => remove(join(path, String(pass))),
    keep: async () => {
      if (keptBy === undefined) await remove(path);
    },
    remove: () => remove(path),
  };
}

/**
 * Opens the scratch folder of a distributed run, which all its processes share. The process that ends the run removes
 * it.
 */
async function openJointFolder(
  parent: string,
  { id, share }: NonNullable<OpenScratchOptions["joint"]>,
): Promise<Scratch> {
  const path = join(parent, `.${SCRATCH}.zarrflow-${id.slice(-12)}`);
  const details = { store: `directory ${parent}` };
  try {
    await mkdir(parent, { recursive: true });
    await mkdir(path, { recursive: true, mode: PRIVATE });
    await signJointScratch(path);
  } catch (error) {
    throw fileError(error, details);
  }
  const leave = async () => {};
  return {
    store: new DirectoryStore(path, { shared: true }),
    spec: { kind: "directory", path, shared: true },
    removePass: leave,
    keep: leave,
    async remove() {
      if (share) return;
      try {
        await removeFolder(path);
      } catch (error) {
        throw fileError(error, details);
      }
    },
  };
}

/** Removes folders of scratch objects that killed runs left and that no run can resume. */
export function removeLeftFolders(parent = tmpdir()): Promise<void> {
  return removeAbandoned(parent);
}

async function assertSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new ZarrflowError("no-space", "the scratch objects will not fit on the disk", {
    store: `directory ${folder}`,
    expected: `${bytes} bytes (${formatBytes(bytes)})`,
    found: `${free} bytes free (${formatBytes(free)})`,
    hint: "Choose another place with --scratch, or avoid scratch objects with --strategy direct.",
  });
}
