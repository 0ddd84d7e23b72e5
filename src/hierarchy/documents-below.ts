import type { Documents } from "../meta/format.ts";
import { joinKey } from "../meta/join-key.ts";
import type { ZarrNode } from "./node.ts";
import { type WalkOptions, walk } from "./open/walk.ts";

/** The documents of a node and of all nodes below it, by key. @throws as `walk` */
export async function documentsBelow(node: ZarrNode, options: WalkOptions = {}): Promise<Documents> {
  const documents = new Map(node.documents);
  if (node.kind === "group") {
    for await (const below of walk(node, options)) {
      for (const [key, bytes] of below.documents) documents.set(key, bytes);
    }
  }
  const prefix = joinKey(node.path, "");
  return new Map([...documents].filter(([key]) => key.startsWith(prefix)));
}
