import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { hasLabels, hasPoints, type SliceOption } from "../../hierarchy/slice-option.ts";
import type { NodeWarning, Plan } from "../../plan/plan.ts";
import type { WarningEvent } from "../../run/events.ts";
import type { RunOptions } from "../../run/run-options.ts";
import type { StoreAccess } from "../../stores/access.ts";
import { environmentAccess } from "../../stores/http/headers.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { isZip, storeTraits } from "../../stores/store-traits.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { listed } from "../../util/names.ts";
import { type IdleOption, withoutEffect, withoutShared } from "../../util/options.ts";
import type { Changes, PlanningOptions } from "./flow-options.ts";
import { hasOtherFormat } from "./node-findings.ts";
import { nearestReason } from "./slice-indices.ts";
import { profiledSides } from "./store-profiles.ts";

/** The state of a flow when its plan is made. */
interface PlannedFlow {
  readonly options: PlanningOptions;
  readonly plan: Plan;
  /** The opened node. */
  readonly root: ZarrArray | ZarrGroup;
  readonly taken: readonly ZarrNode[];
  readonly source: StoreSpec;
  readonly scratch: StoreSpec | undefined;
  /** True if the slice has labels. */
  readonly hasLabels: boolean;
  /** True if any of these labels is a single one, not a range. */
  readonly hasPoints: boolean;
  readonly singleThreadReason: string | undefined;
}

/** The stores that a call uses, and the options to access them. */
interface ReachedStores {
  readonly access: StoreAccess;
  readonly stores: readonly (StoreSpec | undefined)[];
}

/** The state of a run when it starts. */
interface StartedRun {
  readonly options: RunOptions;
  readonly plan: Plan;
}

const ONLY_RANGES = "all labels are ranges, which select the items between their ends";

/** A rule that finds an option without effect. */
interface EffectRule<Known> extends IdleOption {
  /**
   * True if the call must fail, because it would not do what was asked. Otherwise it only warns: the result is the
   * same without the option.
   */
  readonly fails: boolean;
  /**
   * Returns the reason why the option has no effect, as text after a colon; undefined if it has one or is not set.
   */
  readonly reason: (known: Known) => string | undefined;
}

/** Rules for all options of a planned flow that can lose their effect. */
const PLANNED: readonly EffectRule<PlannedFlow>[] = [
  {
    option: "shards",
    fails: true,
    reason: ({ options: { shards }, plan }) =>
      shards !== undefined && !isNoShards(shards) && plan.publication.zarrFormat !== "v3"
        ? `the target is ${plan.publication.zarrFormat}, but only v3 has shards`
        : undefined,
    instead: 'Write v3 with --to v3 (in code to: "v3"), or omit it.',
  },
  {
    option: "match",
    fails: true,
    reason: ({ options: { match, chunks, shards }, root }) => {
      if (match === undefined) return undefined;
      if (root.kind === "array") return "the source is a single array";
      return namesDimensions(chunks) || namesDimensions(shards)
        ? undefined
        : "no chunks or shards name dimensions";
    },
  },
  {
    option: "strict",
    fails: true,
    reason: ({ options: { strict, slice } }) =>
      strict && slice === undefined ? "nothing is sliced" : undefined,
  },
  {
    option: "nearest",
    fails: true,
    reason: ({ options, hasLabels }) => nearestReason(options, hasLabels),
  },
  {
    option: "nearest",
    fails: false,
    reason: ({ options: { nearest }, hasPoints }) => (nearest && !hasPoints ? ONLY_RANGES : undefined),
  },
  {
    option: "companions",
    fails: true,
    reason: ({ options: { companions = true, include = [], slice }, root }) => {
      if (companions || include.length > 0 || (root.kind === "array" && slice !== undefined))
        return undefined;
      return root.kind === "array"
        ? "only one array is taken, without companions"
        : "everything is taken anyway";
    },
    instead: "Select arrays with --include (in code include), or omit it.",
  },
  {
    option: "allowLoss",
    fails: true,
    reason: ({ options: { allowLoss }, plan: { publication } }) =>
      allowLoss !== undefined && publication.from === publication.zarrFormat
        ? `the format stays ${publication.zarrFormat}, and nothing is lost`
        : undefined,
  },
  {
    option: "allowLoss",
    fails: false,
    reason: ({ options: { allowLoss = [] }, taken }) => {
      const unknown = allowLoss.filter((pointer) => !mayName(pointer, taken));
      return unknown.length === 0 ? undefined : `no node has ${unknown.join(", ")}`;
    },
    instead: "Use the pointers that the error about the loss lists.",
  },
  {
    option: "storeProfile",
    fails: false,
    reason: ({ options: { storeProfile = [] }, source, plan, scratch }) => {
      const stores = { source, target: plan.target.store, scratch };
      const isRemote = (spec: StoreSpec | undefined) => spec !== undefined && storeTraits(spec).isRemote;
      const idle = [storeProfile]
        .flat()
        .find((text) => !profiledSides(text).some((side) => isRemote(stores[side])));
      if (idle === undefined) return undefined;
      return `\`${idle}\` is about ${listed(profiledSides(idle))}, none of which is on a network`;
    },
  },
  {
    option: "strategy",
    fails: false,
    reason: ({ options: { strategy }, plan }) =>
      strategy === "staged" && keepsGrids(plan) ? "no array gets new chunks" : undefined,
  },
  {
    option: "scratch",
    fails: false,
    reason: ({ options: { scratch, strategy }, plan }) => {
      if (scratch === undefined) return undefined;
      if (strategy === "direct") return "the strategy `direct` writes no scratch objects";
      return keepsGrids(plan) ? "no array gets new chunks" : undefined;
    },
  },
  {
    option: "keepFormats",
    fails: false,
    reason: ({ options: { keepFormats }, taken }) =>
      keepFormats && !taken.some(hasOtherFormat) ? "no node has documents of two formats" : undefined,
  },
  {
    option: "codec",
    fails: true,
    reason: ({ options: { codec }, taken }) =>
      codec !== undefined && !taken.some(({ kind }) => kind === "array") ? "there is no array" : undefined,
  },
  {
    option: "threads",
    fails: false,
    reason: ({ options: { threads = 1 }, plan, singleThreadReason }) => {
      if (threads === 1) return undefined;
      return copiesAll(plan) ? "all chunks are copied unchanged" : singleThreadReason;
    },
  },
  {
    option: "writeEmptyChunks",
    fails: false,
    reason: ({ options: { writeEmptyChunks }, plan }) =>
      writeEmptyChunks && copiesAll(plan) ? "all chunks are copied unchanged" : undefined,
  },
  {
    option: "v2.separator",
    fails: false,
    reason: ({ options: { v2 }, root }) =>
      v2?.separator !== undefined && root.layout.zarrFormat !== "v2"
        ? `the source is ${root.layout.zarrFormat}`
        : undefined,
  },
];

/** Rules for options that control access to stores. */
const ACCESS: readonly EffectRule<ReachedStores>[] = [
  {
    option: "anonymous",
    fails: false,
    reason: ({ access: { anonymous }, stores }) =>
      anonymous && !reaches(stores, "s3") ? "no store is in S3" : undefined,
  },
  {
    option: "missing403",
    fails: false,
    reason: ({ access: { missing403 }, stores }) => (missing403 ? unlessServer(stores) : undefined),
  },
  {
    option: "fetch",
    fails: false,
    reason: ({ access: { fetch }, stores }) => (fetch ? unlessServer(stores) : undefined),
  },
  ...(["attempts", "timeout"] as const).map(
    (name): EffectRule<ReachedStores> => ({
      option: `retry.${name}`,
      fails: false,
      reason: ({ access: { retry }, stores }) =>
        retry?.[name] === undefined ? undefined : unlessServer(stores),
    }),
  ),
  {
    option: "headers",
    fails: false,
    reason: ({ access: { headers }, stores }) =>
      headers && !isOfEnvironment("headers", headers) && !reaches(stores, "http")
        ? "no store is a web server"
        : undefined,
  },
  {
    option: "query",
    fails: false,
    reason: ({ access: { query }, stores }) =>
      query && !isOfEnvironment("query", query) && !reaches(stores, "http")
        ? "no store is a web server"
        : undefined,
  },
];

/** Rules for options of a run. */
const STARTED: readonly EffectRule<StartedRun>[] = [
  {
    option: "fsync",
    fails: false,
    reason: ({ options: { fsync }, plan: { target } }) =>
      fsync && !isOnDisk(target.store) ? "the target is not on a disk of this machine" : undefined,
  },
  {
    option: "resume",
    fails: false,
    reason: ({ options: { resume }, plan }) =>
      resume && plan.publication.existing === "update"
        ? "an update always continues where it stopped"
        : undefined,
  },
];

/**
 * Warns about options of a planned flow that have no effect.
 *
 * @throws `invalid-option` if the flow would not do what such an option asks
 */
export function plannedEffects(known: PlannedFlow): NodeWarning[] {
  const malformed = known.options.allowLoss?.find((pointer) => !pointer.startsWith("/"));
  if (malformed !== undefined) {
    throw new ZarrflowError("invalid-option", `\`${malformed}\` in \`allowLoss\` is not a JSON pointer`, {
      hint: `Write /${malformed}, or use a pointer that the error about the loss lists.`,
    });
  }
  const stores = [known.source, known.plan.target.store, known.scratch];
  return [...warningsOf(PLANNED, known), ...accessEffects(known.options, stores)];
}

/** Warns about access options that have no effect on any of the stores in use. */
export function accessEffects(access: StoreAccess, stores: ReachedStores["stores"]): NodeWarning[] {
  return warningsOf(ACCESS, { access: withoutShared(access), stores });
}

/** Emits these warnings from a flow without a plan, once it has opened its stores. */
export function noteAccess(
  { onEvent, ...access }: StoreAccess & { readonly onEvent?: ((event: WarningEvent) => void) | undefined },
  stores: ReachedStores["stores"],
): void {
  for (const warning of accessEffects(access, stores)) onEvent?.({ type: "warning", ...warning });
}

/** Warns about options of a run that have no effect. */
export function startedEffects(known: StartedRun): NodeWarning[] {
  return warningsOf(STARTED, known);
}

function warningsOf<Known>(rules: readonly EffectRule<Known>[], known: Known): NodeWarning[] {
  return rules.flatMap((rule) => {
    const reason = rule.reason(known);
    if (reason === undefined) return [];
    if (rule.fails) throw withoutEffect(rule, reason);
    return [warningOf(rule, reason)];
  });
}

/** Warns about `nearest` without effect in a slice that is not planned. */
export function nearestEffects(nearest: boolean, option: SliceOption): NodeWarning[] {
  const isIdle = nearest && hasLabels(option) && !hasPoints(option);
  return isIdle ? [warningOf({ option: "nearest" }, ONLY_RANGES)] : [];
}

function warningOf(rule: IdleOption, reason: string): NodeWarning {
  const { reason: message, details } = withoutEffect(rule, reason);
  return {
    code: "option-without-effect",
    option: rule.option,
    message,
    ...(details.hint && { hint: details.hint }),
  };
}

function isNoShards(shards: NonNullable<Changes["shards"]>): boolean {
  return typeof shards === "string" ? isNone(shards) : Array.isArray(shards) && shards.every(isNone);
}

function isNone(text: unknown): boolean {
  return typeof text === "string" && /(?:^|:)\s*none\s*$/.test(text);
}

function namesDimensions(input: Changes["chunks"]): boolean {
  if (input === undefined) return false;
  if (typeof input === "string") return input.includes("=");
  if (Array.isArray(input)) return input.some((one) => typeof one === "string" && one.includes("="));
  return Object.keys(input).length > 0;
}

/**
 * True if a JSON pointer may refer to something in the nodes. Only the first name below `/attributes` is looked up.
 */
function mayName(pointer: string, nodes: readonly ZarrNode[]): boolean {
  const name = /^\/attributes\/([^/]+)/.exec(pointer)?.[1]?.replaceAll("~1", "/").replaceAll("~0", "~");
  return name === undefined || nodes.some(({ metadata }) => Object.hasOwn(metadata.attributes, name));
}

/** True if no chunk is decoded or encoded. */
function copiesAll({ stages }: Plan): boolean {
  return stages.every((tasks) => tasks === 0);
}

/** True if every array keeps its chunks. Never true for an existing target, whose arrays may need no job. */
function keepsGrids({ jobs, publication }: Plan): boolean {
  if (publication.existing !== undefined) return false;
  return jobs.every(({ strategy }) => strategy === "verbatim" || strategy === "transcode");
}

function reaches(stores: ReachedStores["stores"], ...kinds: readonly StoreSpec["kind"][]): boolean {
  const kindOf = (spec: StoreSpec): StoreSpec["kind"] =>
    spec.kind === "zip-value" ? kindOf(spec.store) : spec.kind;
  return stores.some((spec) => {
    const kind = spec && kindOf(spec);
    return kind !== undefined && (kind === "object" || kinds.includes(kind));
  });
}

function unlessServer(stores: ReachedStores["stores"]): string | undefined {
  return reaches(stores, "s3", "http") ? undefined : "no store is a web server or in S3";
}

/**
 * True if a value comes from the environment, which applies headers and queries to all calls, whatever stores they
 * use.
 */
function isOfEnvironment(name: "headers" | "query", value: unknown): boolean {
  return JSON.stringify(environmentAccess()[name]) === JSON.stringify(value);
}

function isOnDisk(spec: StoreSpec): boolean {
  return spec.kind === "directory" || (isZip(spec) && storeTraits(spec).isFileBacked);
}
