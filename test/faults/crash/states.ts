import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Contents } from "./places.ts";

/** Distinct contents of targets, each under a name that tells it from all others. */
export class States {
  readonly #contents = new Map<string, Contents>();

  get size(): number {
    return this.#contents.size;
  }

  /** Keeps what a place holds; its name. */
  add(contents: Contents): string {
    const name = nameOf(contents);
    if (!this.#contents.has(name)) this.#contents.set(name, contents);
    return name;
  }

  get(name: string): Contents {
    return this.#contents.get(name) ?? new Map();
  }

  /** Writes all into a folder: each one a folder, or a zip file, of its name. */
  async write(folder: string): Promise<void> {
    for (const [name, contents] of this.#contents) {
      if (!contents.has("")) await mkdir(join(folder, name), { recursive: true });
      for (const [key, value] of contents) {
        const path = join(folder, name, key);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, value);
      }
    }
  }
}

/** A name that tells contents from all others. */
export function nameOf(contents: Contents): string {
  const hash = createHash("sha256");
  for (const [key, value] of [...contents].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(JSON.stringify([key, value.length])).update(value);
  }
  return `${hash.digest("hex").slice(0, 32)}${contents.has("") ? ".zip" : ""}`;
}
