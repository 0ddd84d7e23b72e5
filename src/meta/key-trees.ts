import type { NodeLayout } from "./format.ts";

/** The prefixes that hold every key below a node, none inside another: to be listed one after another. */
export function outerPrefixes({ prefixes }: NodeLayout): readonly string[] {
  return prefixes.filter((one) => !prefixes.some((other) => other !== one && one.startsWith(other)));
}

/** Where a key below one node goes when it becomes part of another: to the tree like its own, or to the chunks. */
export function movedKey(key: string, from: NodeLayout, to: NodeLayout): string {
  const tree = from.prefixes.findIndex((prefix) => key.startsWith(prefix));
  const alike = from.zarrFormat === to.zarrFormat ? to.prefixes[tree] : undefined;
  return (alike ?? to.chunksPrefix) + key.slice(from.prefixes[tree]?.length ?? 0);
}
