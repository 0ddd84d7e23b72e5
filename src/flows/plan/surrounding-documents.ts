import type { DialectName } from "../../meta/array-metadata.ts";
import type { Dialect } from "../../meta/format.ts";
import type { PlannedDocument } from "./plan.ts";

/** What all nodes of a target share: as it is in a source of the same dialect. */
export function sharedDocuments(from: DialectName, { name, writeShared }: Dialect): PlannedDocument[] {
  const written = [...(writeShared?.() ?? [])];
  return from === name ? written.map(([key]) => ({ key, from: key })) : written.map(asText);
}

/** Documents of the groups that a target lies in, in dialects where these need some. */
export function missingAncestors(path: string, dialect: Dialect): PlannedDocument[] {
  if (path === "" || dialect.layout(path).hierarchy.impliesGroups) return [];
  const names = path.split("/").slice(0, -1);
  const paths = ["", ...names.map((_, i) => names.slice(0, i + 1).join("/"))].reverse();
  return paths.flatMap((ancestor) => [...writeAncestor(dialect, ancestor)].map(asText));
}

/** The documents of a group that is there only for what lies below; none in a dialect without groups. */
function writeAncestor({ write, layout }: Dialect, path: string): ReadonlyMap<string, Uint8Array> {
  return write({ kind: "group", attributes: {} }, layout(path), { allowLoss: ["/node_type"] });
}

function asText([key, bytes]: readonly [string, Uint8Array]): PlannedDocument {
  return { key, text: new TextDecoder().decode(bytes) };
}
