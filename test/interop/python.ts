import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** A Python with the packages of requirements.txt; CI insists that there is one. */
const python = process.env.ZARRFLOW_PYTHON;

export const hasPython = python !== undefined && python !== "";

if (!hasPython && process.env.REQUIRE_PYTHON === "1") {
  throw new Error("REQUIRE_PYTHON is set, but ZARRFLOW_PYTHON does not name a Python");
}

/**
 * Runs a script of this folder, or one given by its whole path, and parses the JSON that it prints.
 *
 * @throws when it exits with another code than 0, with what it wrote to standard error.
 */
export async function runPython(script: string, ...args: readonly string[]): Promise<unknown> {
  const path = script.startsWith("/") ? script : fileURLToPath(new URL(script, import.meta.url));
  const { stdout } = await promisify(execFile)(python ?? "", [path, ...args], { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}
