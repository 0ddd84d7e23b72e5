import type { ZarrNode } from "../../hierarchy/node.ts";
import type { FormatOptions } from "../../meta/formats.ts";
import type { KeyFilter } from "../../plan/key-filter.ts";
import type { NodeSpec, Plan, PlannedConversion } from "../../plan/plan.ts";
import type { Settings } from "../../run/ledger.ts";
import { flagOf } from "../../util/options.ts";
import type { Changes } from "./changes.ts";

type Deciding = Changes &
  KeyFilter &
  FormatOptions & { readonly strategy?: string; readonly ifExists?: string };

/** Options that decide what is written, or how it is divided into tasks. All others only affect the pace of a run. */
const DECIDING: readonly (keyof Deciding)[] = [
  "chunks",
  "shards",
  "match",
  "codec",
  "to",
  "keepFormats",
  "slice",
  "include",
  "exclude",
  "companions",
  "strict",
  "allowLoss",
  "strategy",
  "ifExists",
  "v2",
  "v1Order",
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
  const given = DECIDING.flatMap((name): [string, string][] => {
    // `--alone` stands for `companions: false`
    const value = name === "companions" ? options.companions === false || undefined : options[name];
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return value === undefined ? [] : [[`--${flagOf(name)}`, text]];
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
