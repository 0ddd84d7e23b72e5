import { lstat, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileError, isMissing } from "../stores/files/file-error.ts";
import { FileSink } from "../stores/files/file-sink.ts";
import { realPath } from "../stores/files/real-path.ts";
import { temporaryName } from "../stores/reserved-names.ts";
import type { StoreSpec } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";

export interface FileOutputOptions {
  /** What to do when there is a file of that name. */
  readonly ifExists: "error" | "skip" | "replace";
  readonly signal: AbortSignal;
}

/**
 * Writes a file whole or not at all: beside its name, which it takes when it is complete.
 *
 * @returns whether it was written, and not skipped
 * @throws `target-exists`; `not-found` for a folder that is not there; `access-denied`, `no-space`.
 */
export async function writeOutputFile(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  { ifExists, signal }: FileOutputOptions,
): Promise<boolean> {
  const isThere = await assertFree(path, ifExists);
  if (isThere && ifExists === "skip") return false;
  const partial = join(dirname(path), temporaryName());
  const sink = await FileSink.create(partial);
  try {
    for await (const piece of pieces) {
      await sink.write(piece);
      signal.throwIfAborted();
    }
    await assertFree(path, ifExists === "skip" ? "error" : ifExists);
    await sink.close();
    await rename(partial, path);
    return true;
  } catch (error) {
    await sink.abort(error);
    throw fileError(error, { store: `file ${path}` });
  }
}

/**
 * Checks that `writeOutputFile` could replace what is at `path`, before the work is done.
 *
 * @throws as it.
 */
export async function assertOutputReplaceable(path: string): Promise<void> {
  await assertFree(path, "replace");
}

/** The folders and files that a command reads and writes. */
interface Places {
  readonly source: StoreSpec;
  readonly target?: StoreSpec | undefined;
}

/**
 * Checks that files which flags name are neither one another nor at or in a place of the command.
 *
 * @param files paths by their flags
 * @throws `invalid-option`
 */
export async function assertFilesApart(
  files: Readonly<Record<string, string | undefined>>,
  { source, target }: Places,
): Promise<void> {
  const places = { target: target && (await realFolder(target)), source: await realFolder(source) };
  const flags = new Map<string, string>();
  for (const [flag, path] of Object.entries(files)) {
    if (path === undefined) continue;
    const real = await realPath(path);
    const other = flags.get(real);
    if (other !== undefined) throw notApart(`--${other} and --${flag} name one file`, path);
    flags.set(real, flag);
    for (const [name, place] of Object.entries(places)) {
      if (place !== undefined && `${real}/`.startsWith(`${place}/`))
        throw notApart(`--${flag} names ${real === place ? "" : "a file in "}the ${name}`, path);
    }
  }
}

async function realFolder(spec: StoreSpec): Promise<string | undefined> {
  if (spec.kind === "zip-value") return realFolder(spec.store);
  return "path" in spec ? realPath(spec.path) : undefined;
}

function notApart(reason: string, value: string): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, { value, hint: "Name a file of its own, beside them." });
}

/**
 * Whether a file is at `path`.
 *
 * @throws `target-exists` when something is there that must stay; `not-found` when its folder is missing.
 */
async function assertFree(path: string, ifExists: FileOutputOptions["ifExists"]): Promise<boolean> {
  const existing = await statOf(path);
  if (existing === undefined) {
    if (await statOf(dirname(path))) return false;
    throw new ZarrflowError("not-found", `the folder \`${dirname(path)}\` does not exist`);
  }
  if (!existing.isFile()) {
    throw new ZarrflowError("target-exists", `\`${path}\` exists and is not a regular file`, {
      hint: `Write to standard output instead: > ${path}.`,
    });
  }
  if (ifExists !== "error") return true;
  throw new ZarrflowError("target-exists", `\`${path}\` exists`, {
    hint: "Use --if-exists replace to replace the file.",
  });
}

async function statOf(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw fileError(error, { store: `file ${path}` });
  }
}
