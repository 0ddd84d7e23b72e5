import type { ZarrNode } from "../../hierarchy/node.ts";
import type { FormatOptions } from "../../meta/formats.ts";
import type { NodeSpec, Plan, PlannedConversion } from "../../plan/plan.ts";
import type { Changes } from "./changes.ts";
import type { KeyFilter } from "./key-filter.ts";

/** Options that decide what a run writes, as texts by flag. */
export type Settings = Readonly<Record<string, string>>;

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

/** Returns the first setting that differs between two runs, with both values as text. */
export function differingSetting(
  before: Settings,
  now: Settings,
): { readonly name: string; readonly before: string; readonly now: string } | undefined {
  const name = Object.keys({ ...before, ...now }).find((flag) => before[flag] !== now[flag]);
  if (name === undefined) return undefined;
  return { name, before: before[name] || "none", now: now[name] || "none" };
}
