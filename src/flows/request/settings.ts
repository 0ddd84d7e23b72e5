import type { ZarrNode } from "../../hierarchy/node.ts";
import type { FormatOptions } from "../../meta/formats.ts";
import type { KeyFilter } from "../../plan/key-filter.ts";
import type { NodeSpec, Plan, PlannedConversion } from "../../plan/plan.ts";
import type { Settings } from "../../run/ledger.ts";
import type { Changes } from "./changes.ts";

type Deciding = Changes &
  KeyFilter &
  FormatOptions & { readonly strategy?: string; readonly ifExists?: string };

/**
 * Flags of options that decide what is written, or how it is divided into tasks. All others only affect the pace of
 * a run.
 */
const FLAGS: readonly (readonly [flag: string, name: keyof Deciding])[] = [
  ["--chunks", "chunks"],
  ["--shards", "shards"],
  ["--match", "match"],
  ["--codec", "codec"],
  ["--to", "to"],
  ["--keep-formats", "keepFormats"],
  ["--slice", "slice"],
  ["--include", "include"],
  ["--exclude", "exclude"],
  ["--alone", "alone"],
  ["--strict", "strict"],
  ["--allow-loss", "allowLoss"],
  ["--strategy", "strategy"],
  ["--if-exists", "ifExists"],
  ["--v2-separator", "v2"],
  ["--v1-order", "v1Order"],
];

export function settingsOf(
  options: Deciding,
  {
    operation,
    source,
    target,
    conversions,
  }: {
    readonly operation: Plan["operation"];
    readonly source: ZarrNode;
    readonly target: NodeSpec;
    /** Conversions of array values, by path. */
    readonly conversions: ReadonlyMap<string, { readonly reading?: { readonly planned: PlannedConversion } }>;
  },
): Settings {
  const given = FLAGS.flatMap(([flag, name]): [string, string][] => {
    const value = options[name];
    return value === undefined ? [] : [[flag, typeof value === "string" ? value : JSON.stringify(value)]];
  });
  return Object.fromEntries([
    ["the command", operation],
    ["the source", [source.store.description, source.path].filter(Boolean).join(", ")],
    ["the path in the target", target.path],
    ...given,
    ...[...conversions].flatMap(([path, { reading }]) =>
      reading ? [[`the values of ${path || "the array"}`, JSON.stringify(reading.planned)]] : [],
    ),
  ]);
}
