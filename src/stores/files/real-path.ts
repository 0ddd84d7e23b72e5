import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { slashed } from "../url/local-path.ts";

/**
 * Returns the real path of a place that need not exist, based on its nearest existing ancestor, with `/` as the
 * separator.
 */
export async function realPath(path: string): Promise<string> {
  return slashed(await realPathOf(path));
}

async function realPathOf(path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch {
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(await realPathOf(parent), basename(absolute));
  }
}
