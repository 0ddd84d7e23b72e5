import { joinKey } from "../meta/join-key.ts";
import { belowPath, isAtOrBelow } from "../util/node-path.ts";

/** Milliseconds that a shell waits for names at most. */
const PATIENCE_MS = 2000;

/** What the last part of a URL may become: arrays, and groups with a `/`; without what cannot be read. */
export async function namesInside(url: string, patience = PATIENCE_MS): Promise<string[]> {
  const parent = url.slice(0, url.lastIndexOf("/"));
  const names: string[] = [];
  try {
    const { closeOpened, openGroup } = await import("../hierarchy/open/open.ts");
    const { walk } = await import("../hierarchy/open/walk.ts");
    const signal = AbortSignal.timeout(patience);
    const root = rootOf(parent);
    const group = await openGroup(root, { signal });
    const urlOf = (path: string) => joinKey(root, belowPath(group.path, path));
    const isLeftOut = (path: string) => {
      const other = urlOf(path);
      return !isAtOrBelow(parent, other) && other.slice(0, other.lastIndexOf("/")) !== parent;
    };
    try {
      for await (const { kind, path } of walk(group, { isLeftOut, signal })) {
        const name = urlOf(path);
        if (name.startsWith(url)) names.push(kind === "group" ? `${name}/` : name);
      }
    } finally {
      await closeOpened(root, group.store);
    }
  } catch {
    // A shell that completes a word has no use for an error.
  }
  return names;
}

/** The group whose metadata name what is in `group`: over HTTP nobody lists, and the root of a store names all. */
function rootOf(group: string): string {
  return /^https?:\/\/.*?\.zarr(?=\/)/.exec(group)?.[0] ?? group;
}
