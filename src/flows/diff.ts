import type { ZarrArray, ZarrNode } from "../hierarchy/node.ts";
import type { OpenSource } from "../hierarchy/open/open.ts";
import { isNotKnown } from "../hierarchy/open/open-node.ts";
import { type BrokenNode, brokenNode, walkPastBroken } from "../hierarchy/open/walk.ts";
import { leaseMemory, READ_OPTIONS, type ReadOptions } from "../hierarchy/read-options.ts";
import { compareValues } from "../run/compare-values.ts";
import { READ_EVENT_OPTIONS, type ReadEventOptions } from "../run/events.ts";
import { SourceWatch } from "../run/source-watch.ts";
import { memoryLimit } from "../streams/byte-budget.ts";
import { untilAborted } from "../util/abort.ts";
import { ZarrflowError } from "../util/errors.ts";
import { sortUtf8 } from "../util/names.ts";
import { belowPath } from "../util/node-path.ts";
import { checkedOptions, type OptionNames } from "../util/options.ts";
import { brokenStates, compareMetadata, type Difference, isComparable } from "./diff/compare-metadata.ts";
import { canCompareKeys, compareOtherKeys, sameStored } from "./diff/compare-stored.ts";
import { readableArray, undecodable } from "./request/node-findings.ts";
import { openSource } from "./request/open-source.ts";
import { noteAccess } from "./request/option-effects.ts";
import { usualConcurrency } from "./request/store-settings.ts";

export type { Difference } from "./diff/compare-metadata.ts";

export interface DiffOptions extends ReadOptions, ReadEventOptions {
  /** If true, also count differences of format, chunks and codecs. */
  readonly strict?: boolean | undefined;
  /** Compares only nodes, shapes, data types and values: no other metadata, and no keys that are not Zarr. */
  readonly values?: boolean | undefined;
}

const DIFF_OPTIONS: OptionNames<DiffOptions> = {
  ...READ_OPTIONS,
  ...READ_EVENT_OPTIONS,
  strict: true,
  values: true,
};

/**
 * Yields the differences between two arrays, or between two groups with everything below them: nodes that only one side
 * has, metadata, values, and keys that are neither documents nor chunks. Values are compared in C order within the
 * memory budget. Format, chunks and codecs are reported, but count only with `strict`. Whatever cannot be read is
 * reported as broken, and the comparison goes on.
 *
 * @throws as `open` of the first nodes; `budget-too-small` with the smallest budget that works; `invalid-option` for
 *   `strict` with `values`; read errors that say nothing about the stored data, such as `transient`.
 * @example
 * ```ts
 * import { diff } from "zarrflow";
 *
 * for await (const { path, what, counts } of diff("era5.zarr", "archive.zarr.zip")) {
 *   if (counts) console.log(path, what, "differs");
 * }
 * ```
 */
export async function* diff(
  a: OpenSource,
  b: OpenSource,
  given: DiffOptions = {},
): AsyncGenerator<Difference> {
  const options = checkedOptions(given, DIFF_OPTIONS);
  if (options.strict && options.values) {
    throw new ZarrflowError("invalid-option", "strict and values contradict each other", {
      hint: "Use strict to also compare format, chunks and codecs, or values to compare only values.",
    });
  }
  const release = await leaseMemory(options, memoryLimit(options));
  try {
    yield* differences(a, b, options);
  } finally {
    release();
  }
}

async function* differences(a: OpenSource, b: OpenSource, options: DiffOptions): AsyncGenerator<Difference> {
  const left = await openSource(a, options);
  try {
    const right = await openSource(b, { ...options, concurrency: undefined });
    try {
      noteAccess(options, [left.root.spec, right.root.spec]);
      const [nodes, others] = [await nodesOf(left.root, options), await nodesOf(right.root, options)];
      const read = [...nodes.values(), ...others.values()].filter((node) => node.kind !== "broken");
      const watch = await SourceWatch.begin(read, [], options);
      const compared = { ...options, roots: [left.root, right.root] } as const;
      const paths = sortUtf8([...new Set([...nodes.keys(), ...others.keys()])]);
      for (const path of paths) {
        const differences = compareNodes(nodes.get(path), others.get(path), path, compared);
        for await (const found of untilAborted(differences, options.signal)) {
          yield { path, ...found, counts: found.counts || options.strict === true };
        }
      }
      if (!options.values) yield* compareOthers([left.root, nodes], [right.root, others], options);
      await watch.assertUnchanged({
        concurrency: usualConcurrency(options.concurrency, left.root.spec, right.root.spec),
        signal: options.signal,
      });
      watch.end();
    } finally {
      await right.close();
    }
  } finally {
    await left.close();
  }
}

/** Options of a comparison, and the roots of both sides. */
interface Comparison extends DiffOptions {
  readonly roots: readonly [ZarrNode, ZarrNode];
}

type AnyNode = ZarrNode | BrokenNode;

/** Compares keys that are not Zarr, below nodes that both sides have. */
async function* compareOthers(
  [a, nodes]: readonly [ZarrNode, ReadonlyMap<string, AnyNode>],
  [b, others]: readonly [ZarrNode, ReadonlyMap<string, AnyNode>],
  { signal, onEvent, ...options }: DiffOptions,
): AsyncGenerator<Difference> {
  if (!canCompareKeys(a, b)) {
    const message =
      "a store cannot list its keys, so keys that are neither documents nor chunks were not compared";
    return onEvent?.({
      type: "warning",
      message,
      hint: "Compare such files one by one with another program.",
    });
  }
  const compared = (own: ReadonlyMap<string, AnyNode>, other: ReadonlyMap<string, AnyNode>) => {
    const of = ([path, node]: readonly [string, AnyNode]) =>
      [path, node.kind !== "broken" && other.get(path)?.kind === node.kind ? node : null] as const;
    return new Map([...own].map(of));
  };
  const sides = [
    { root: a, nodes: compared(nodes, others) },
    { root: b, nodes: compared(others, nodes) },
  ] as const;
  yield* untilAborted(compareOtherKeys(...sides, { maxMemory: memoryLimit(options), signal }), signal);
}

/** Returns a node and all nodes below it, by their path relative to it. */
async function nodesOf(root: ZarrNode, { signal }: ReadOptions): Promise<Map<string, AnyNode>> {
  const nodes = new Map<string, AnyNode>([["", root]]);
  if (root.kind === "array") return nodes;
  for await (const node of walkPastBroken(root, { signal })) {
    nodes.set(belowPath(root.path, node.path), node);
  }
  return nodes;
}

/** Differences that make it impossible to compare values. */
const OF_VALUES: readonly Difference["what"][] = ["shape", "data type"];

async function* compareNodes(
  a: AnyNode | undefined,
  b: AnyNode | undefined,
  path: string,
  options: Comparison,
): AsyncGenerator<Omit<Difference, "path">> {
  if (a?.kind === "broken" || b?.kind === "broken") {
    const areUnknown = [a, b].every((node) => node?.kind === "broken" && isNotKnown(node.error));
    return yield* compareStored([a, b], path, areUnknown ? options : undefined);
  }
  if (a?.kind !== b?.kind) yield { what: "node", counts: true, a: a?.kind, b: b?.kind };
  if (!a || a.kind !== b?.kind) return;
  // All nodes of a hierarchy have the format of its root, so it is reported once.
  for (const found of compareMetadata(a, b)) {
    if (options.values && !OF_VALUES.includes(found.what)) continue;
    if (found.what !== "zarrFormat" || path === "") yield found;
  }
  if (a.kind !== "array" || b.kind !== "array" || !isComparable(a, b)) return;
  const errors = [await undecodable(a), await undecodable(b)];
  if (errors.some((error) => error !== undefined)) {
    const sides = [a, b].map((node, i) => (errors[i] ? brokenNode(node.path, errors[i]) : node));
    return yield* compareStored(sides, path, errors.includes(undefined) ? undefined : options);
  }
  try {
    const found = await valueDifferences(a, b, path, options);
    if (found === undefined) return;
    const { a: itemOfA, b: itemOfB, ...values } = found;
    yield { what: "values", counts: true, a: itemOfA, b: itemOfB, values };
  } catch (error) {
    yield { what: "broken", ...brokenStates(error, a, b) };
  }
}

/**
 * Compares the stored bytes of two nodes that cannot be decoded, if possible.
 *
 * @param options undefined if their bytes cannot be compared either
 */
async function* compareStored(
  [a, b]: readonly (AnyNode | undefined)[],
  path: string,
  options: Comparison | undefined,
): AsyncGenerator<Omit<Difference, "path">> {
  const broken = { what: "broken", counts: true, a: stateOf(a), b: stateOf(b) } as const;
  if (options === undefined || a === undefined || b === undefined) return yield broken;
  const { signal, roots } = options;
  const [left, right] = [
    { root: roots[0], path: a.path },
    { root: roots[1], path: b.path },
  ];
  const same = await sameStored(left, right, { maxMemory: memoryLimit(options), signal });
  if (same === undefined) return yield broken;
  if (!same) return yield { ...broken, what: "stored bytes" };
  const message = "this cannot be decoded here, so its stored bytes were compared: they are equal";
  options.onEvent?.({ type: "warning", path, message });
}

/** The kind of a node, or the reason why it cannot be read. */
function stateOf(node: AnyNode | undefined): string | undefined {
  return node?.kind === "broken" ? node.error.message : node?.kind;
}

async function valueDifferences(a: ZarrArray, b: ZarrArray, path: string, options: Comparison) {
  const { signal, onEvent } = options;
  const maxMemory = memoryLimit(options);
  const concurrency = usualConcurrency(options.concurrency, a.spec, b.spec);
  const [rootOfA, rootOfB] = options.roots;
  const [left, right] = [await readableArray(a, rootOfA, options), await readableArray(b, rootOfB, options)];
  return compareValues(left, right, { maxMemory, concurrency, path, signal, onEvent });
}
