import type { ZarrFormat } from "../../meta/array-metadata.ts";
import type { FormatDefinition } from "../../meta/format.ts";
import type { PlannedDocument } from "./plan.ts";

/** Documents that all nodes of a target share. They are copied if the source has the same format. */
export function sharedDocuments(
  from: ZarrFormat,
  { name, writeShared }: FormatDefinition,
): PlannedDocument[] {
  const written = [...(writeShared?.() ?? [])];
  return from === name ? written.map(([key]) => ({ key, from: key })) : written.map(asText);
}

/** Documents of the groups above a target, in formats that need them. */
export function missingAncestors(path: string, zarrFormat: FormatDefinition): PlannedDocument[] {
  if (path === "" || zarrFormat.layout(path).hierarchy.impliesGroups) return [];
  const names = path.split("/").slice(0, -1);
  const paths = ["", ...names.map((_, i) => names.slice(0, i + 1).join("/"))].reverse();
  return paths.flatMap((ancestor) => [...writeAncestor(zarrFormat, ancestor)].map(asText));
}

/** Writes the documents of a group that exists only as a parent; none in a format without groups. */
function writeAncestor({ write, layout }: FormatDefinition, path: string): ReadonlyMap<string, Uint8Array> {
  return write({ kind: "group", attributes: {} }, layout(path), { allowLoss: ["/node_type"] });
}

function asText([key, bytes]: readonly [string, Uint8Array]): PlannedDocument {
  return { key, text: new TextDecoder().decode(bytes) };
}
