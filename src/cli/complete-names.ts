import { joinKey } from "../meta/join-key.ts";
import { belowPath } from "../util/node-path.ts";

/** Milliseconds that a shell waits for names at most. */
const PATIENCE_MS = 2000;

/** Returns the URLs that complete a URL: arrays, and groups with a trailing `/`. None if nothing can be read. */
export async function namesInside(url: string, patience = PATIENCE_MS): Promise<string[]> {
  if (/^https?:.*\?/i.test(url)) return []; // a query ends a URL, and is a credential
  const parent = url.slice(0, url.lastIndexOf("/"));
  const names: string[] = [];
  try {
    const { closeOpened, openGroup } = await import("../hierarchy/open/open.ts");
    const { children } = await import("../hierarchy/open/walk.ts");
    const signal = AbortSignal.timeout(patience);
    const group = await openGroup(parent, { signal });
    try {
      for await (const { kind, path } of children(group, { signal })) {
        const name = joinKey(parent, belowPath(group.path, path));
        if (name.startsWith(url)) names.push(kind === "group" ? `${name}/` : name);
      }
    } finally {
      await closeOpened(parent, group.store);
    }
  } catch {
    // A shell that completes a word has no use for an error.
  }
  return names;
}
