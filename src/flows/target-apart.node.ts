import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { StoreSpec } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";

/**
 * Checks that neither store lies within the other, symbolic links resolved.
 *
 * @throws `target-inside-source`
 */
export async function assertApart(source: StoreSpec, target: StoreSpec): Promise<void> {
  if (!("path" in source) || !("path" in target)) return;
  const from = await realPath(source.path);
  const to = await realPath(target.path);
  const hint = "choose a target beside the source";
  if (contains(from, to)) {
    throw new ZarrflowError("target-inside-source", "the target lies inside its own source", {
      value: to,
      hint,
    });
  }
  if (contains(to, from)) {
    throw new ZarrflowError(
      "target-inside-source",
      "the source lies inside the target, which it would replace",
      {
        value: to,
        hint,
      },
    );
  }
}

function contains(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way === "" || (way !== ".." && !way.startsWith("../") && !way.startsWith("..\\"));
}

/** The real path of what need not exist yet: of its nearest ancestor that does. */
async function realPath(path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch {
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(await realPath(parent), basename(absolute));
  }
}
