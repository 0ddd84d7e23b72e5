import type { ZarrFormat } from "../../meta/array-metadata.ts";
import type { FormatDefinition } from "../../meta/format.ts";
import type { PlannedDocument } from "./plan.ts";

/** What all nodes of a target share: as it is in a source of the same format. */
export function sharedDocuments(
  from: ZarrFormat,
  { name, writeShared }: FormatDefinition,
): PlannedDocument[] {
  const written = [...(writeShared?.() ?? [])];
  return from === name ? written.map(([key]) => ({ key, from: key })) : written.map(asText);
}

/** Documents of the groups that a target lies in, in formats where these need some. */
export function missingAncestors(path: string, zarrFormat: FormatDefinition): PlannedDocument[] {
  if (path === "" || zarrFormat.layout(path).hierarchy.impliesGroups) return [];
  const names = path.split("/").slice(0, -1);
  const paths = ["", ...names.map((_, i) => names.slice(0, i + 1).join("/"))].reverse();
  return paths.flatMap((ancestor) => [...writeAncestor(zarrFormat, ancestor)].map(asText));
}

/** The documents of a group that is there only for what lies below; none in a format without groups. */
function writeAncestor({ write, layout }: FormatDefinition, path: string): ReadonlyMap<string, Uint8Array> {
  return write({ kind: "group", attributes: {} }, layout(path), { allowLoss: ["/node_type"] });
}

function asText([key, bytes]: readonly [string, Uint8Array]): PlannedDocument {
  return { key, text: new TextDecoder().decode(bytes) };
}
