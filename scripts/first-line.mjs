import { readFileSync } from "node:fs";

/** The first line of a file; undefined if there is no such file. */
export function firstLine(path) {
  try {
    return readFileSync(path, "utf8").split("\n", 1)[0];
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
