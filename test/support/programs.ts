import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Whether a program is on the path; with `REQUIRE_PROGRAMS=1` it must be. */
export function hasProgram(name: string): boolean {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return process.env.REQUIRE_PROGRAMS === "1" || folders.some((folder) => existsSync(join(folder, name)));
}
