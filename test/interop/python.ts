import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { shared } from "./shared.ts";

/** A Python with the packages of requirements.txt; CI insists that there is one. */
export const python = process.env.ZARRFLOW_PYTHON;

export const hasPython = python !== undefined && python !== "";

if (!hasPython && process.env.REQUIRE_PYTHON === "1") {
  throw new Error("REQUIRE_PYTHON is set, but ZARRFLOW_PYTHON does not name a Python");
}

/** A Python with the packages of requirements-rechunker.txt, which go with zarr-python 2 only. */
export const pythonOfRechunker = process.env.ZARRFLOW_PYTHON_RECHUNKER;

if (hasPython && !pythonOfRechunker && process.env.REQUIRE_PYTHON === "1") {
  throw new Error("REQUIRE_PYTHON is set, but ZARRFLOW_PYTHON_RECHUNKER does not name a Python");
}

/** A Python with zarr-python 1.1.0, as requirements-v1.txt tells. */
const pythonV1 = process.env.ZARRFLOW_PYTHON_V1;

export const hasPythonV1 = pythonV1 !== undefined && pythonV1 !== "";

if (!hasPythonV1 && process.env.REQUIRE_PYTHON_V1 === "1") {
  throw new Error("REQUIRE_PYTHON_V1 is set, but ZARRFLOW_PYTHON_V1 does not name a Python");
}

/**
 * Runs a script of this folder, or one given by its whole path, and parses the JSON that it prints.
 *
 * @throws when it exits with another code than 0, with what it wrote to standard error.
 */
export async function runPython(script: string, ...args: readonly string[]): Promise<unknown> {
  return run(python, script, args);
}

/** Runs a script with zarr-python 1.1.0. @throws as `runPython` */
export async function runPythonV1(script: string, ...args: readonly string[]): Promise<unknown> {
  return run(pythonV1, script, args);
}

async function run(python: string | undefined, script: string, args: readonly string[]): Promise<unknown> {
  const path = script.startsWith("/") ? script : fileURLToPath(new URL(script, import.meta.url));
  const { stdout } = await promisify(execFile)(python ?? "", [path, ...args], { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}

/** What zarr-python reads of a node: of numbers and bytes the digest, of strings and objects the values. */
export interface ReadByZarrPython {
  readonly groups: readonly { readonly path: string; readonly attributes: object }[];
  readonly arrays: readonly {
    readonly path: string;
    readonly chunks: readonly number[];
    readonly attributes: object;
    readonly sha256?: string;
    readonly values?: readonly unknown[];
    readonly error?: string;
  }[];
}

/** All that zarr-python reads of a store, in a directory or a zip; where it cannot read an array, its `error` says so. */
export async function readByZarrPython(store: string, format?: number): Promise<ReadByZarrPython> {
  const options = format === undefined ? [] : ["--format", `${format}`];
  const read = runPython(`${shared}corpus/verify_written.py`, store, ...options);
  // It exits with 1 when there is an array that it cannot read.
  return (await read.catch(failedReads)) as ReadByZarrPython;
}

function failedReads(error: { readonly stdout?: string }): unknown {
  if (!error.stdout) throw error;
  return JSON.parse(error.stdout);
}
