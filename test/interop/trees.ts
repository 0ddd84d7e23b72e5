import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Digest of each file below a folder, by its path there. */
export function filesOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "utf8" })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
  return Object.fromEntries(files.map((file) => [file.slice(folder.length + 1), hash(file)]));
}
