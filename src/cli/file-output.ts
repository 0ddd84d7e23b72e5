import { lstat, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileError, isMissing } from "../stores/files/file-error.ts";
import { realPath } from "../stores/files/file-reader.ts";
import { FileSink } from "../stores/files/file-sink.ts";
import { temporaryName } from "../stores/reserved-names.ts";
import type { StoreSpec } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";

export interface FileOutputOptions {
  /** Handling of an existing file. */
  readonly ifExists: "error" | "skip" | "replace";
  readonly signal: AbortSignal;
}

/**
 * Writes a file completely or not at all: under a temporary name in the same folder, then renamed.
 *
 * @returns true if the file was written, false if it was skipped
 * @throws `target-exists`; `not-found` if the folder does not exist; `access-denied`, `no-space`.
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
 * Checks before any work is done that `writeOutputFile` could replace the file at `path`.
 *
 * @throws the errors of `writeOutputFile`.
 */
export async function assertOutputReplaceable(path: string): Promise<void> {
  await assertFree(path, "replace", "Name a file in a folder that exists.");
}

/** The stores that a command reads and writes. */
interface Places {
  readonly source: StoreSpec;
  readonly target?: StoreSpec | undefined;
}

/**
 * Checks that the files that flags name differ from one another, and are not at or in a store of the command.
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
    if (other !== undefined) throw notApart(`--${other} and --${flag} name the same file`, path);
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
  return new ZarrflowError("invalid-option", reason, {
    value,
    hint: "Give it a file of its own, beside them.",
  });
}

/**
 * Returns true if a file exists at `path`.
 *
 * @throws `target-exists` if there is something that must not be replaced; `not-found` if the folder is missing.
 */
async function assertFree(
  path: string,
  ifExists: FileOutputOptions["ifExists"],
  hint = `Redirect standard output instead: > ${path}.`,
): Promise<boolean> {
  const existing = await statOf(path);
  if (existing === undefined) {
    if (await statOf(dirname(path))) return false;
    throw new ZarrflowError("not-found", `the folder \`${dirname(path)}\` does not exist`);
  }
  if (!existing.isFile()) {
    throw new ZarrflowError("target-exists", `\`${path}\` exists and is not a regular file`, { hint });
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
