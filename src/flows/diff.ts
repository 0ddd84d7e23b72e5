import type { ZarrArray, ZarrNode } from "../hierarchy/node.ts";
import { type BrokenNode, walkPastBroken } from "../hierarchy/open/walk.ts";
import { untilAborted } from "../util/abort.ts";
import { parseBytes } from "../util/byte-size.ts";
import { checkedOptions, type OptionNames } from "../util/check-options.ts";
import { belowPath } from "../util/node-path.ts";
import { sortUtf8 } from "../util/utf8-order.ts";
import { compareMetadata, isComparable } from "./diff/compare-metadata.ts";
import { compareValues } from "./diff/compare-values.ts";
import type { Difference } from "./diff/difference.ts";
import { READ_EVENT_OPTIONS, type ReadEventOptions } from "./events.ts";
import { readableArray } from "./request/chunk-separators.ts";
import { DEFAULT_MAX_MEMORY } from "./request/default-memory.ts";
import type { FlowSource } from "./request/flow.ts";
import { openSource } from "./request/open-source.ts";
import { READ_OPTIONS, type ReadOptions } from "./request/read-options.ts";
import { usualIo } from "./request/usual-io.ts";
import { SourceWatch } from "./run/source-watch.ts";

export type { Difference } from "./diff/difference.ts";

export interface DiffOptions extends ReadOptions, ReadEventOptions {
  /** Whether differences of format, chunks and codecs count as well. */
  readonly strict?: boolean;
}

const DIFF_OPTIONS: OptionNames<DiffOptions> = {
  ...READ_OPTIONS,
  ...READ_EVENT_OPTIONS,
  strict: true,
};

/**
 * What differs between two arrays, or between two groups with all below them: nodes that only one has, metadata, and
 * values, which are compared in C order within the memory budget. Format, chunks and codecs are reported, but count only
 * with `strict`. A node below the first that cannot be read is reported as broken, and the others are compared.
 *
 * @throws as `open` of the first nodes; `budget-too-small` with the smallest budget that works; what reading and decoding throw.
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
  a: FlowSource,
  b: FlowSource,
  given: DiffOptions = {},
): AsyncGenerator<Difference> {
  const options = checkedOptions(given, DIFF_OPTIONS);
  const left = await openSource(a, options);
  try {
    const right = await openSource(b, { ...options, io: undefined });
    try {
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
      await watch.assertUnchanged({
        io: usualIo(options.io, left.root.spec, right.root.spec),
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

/** How the nodes below two roots are compared. */
interface Comparison extends DiffOptions {
  readonly roots: readonly [ZarrNode, ZarrNode];
}

type AnyNode = ZarrNode | BrokenNode;

/** A node and all below it by their paths from there. */
async function nodesOf(root: ZarrNode, { signal }: ReadOptions): Promise<Map<string, AnyNode>> {
  const nodes = new Map<string, AnyNode>([["", root]]);
  if (root.kind === "array") return nodes;
  for await (const node of walkPastBroken(root, { signal })) {
    nodes.set(belowPath(root.path, node.path), node);
  }
  return nodes;
}

async function* compareNodes(
  a: AnyNode | undefined,
  b: AnyNode | undefined,
  path: string,
  options: Comparison,
): AsyncGenerator<Omit<Difference, "path">> {
  if (a?.kind === "broken" || b?.kind === "broken") {
    return yield { what: "broken", counts: true, a: stateOf(a), b: stateOf(b) };
  }
  if (a?.kind !== b?.kind) yield { what: "node", counts: true, a: a?.kind, b: b?.kind };
  if (!a || a.kind !== b?.kind) return;
  // All nodes of a hierarchy have the format of its root.
  for (const found of compareMetadata(a, b)) if (found.what !== "zarrFormat" || path === "") yield found;
  if (a.kind !== "array" || b.kind !== "array" || !isComparable(a, b)) return;
  const found = await valuesOf(a, b, path, options);
  if (found === undefined) return;
  const { a: itemOfA, b: itemOfB, ...values } = found;
  yield { what: "values", counts: true, a: itemOfA, b: itemOfB, values };
}

/** What a node is, or why it cannot be read. */
function stateOf(node: AnyNode | undefined): string | undefined {
  return node?.kind === "broken" ? node.error.message : node?.kind;
}

async function valuesOf(a: ZarrArray, b: ZarrArray, path: string, options: Comparison) {
  const { maxMemory = DEFAULT_MAX_MEMORY, signal, onEvent } = options;
  const io = usualIo(options.io, a.spec, b.spec);
  const [rootOfA, rootOfB] = options.roots;
  const [left, right] = [await readableArray(a, rootOfA, options), await readableArray(b, rootOfB, options)];
  return compareValues(left, right, { maxMemory: parseBytes(maxMemory), io, path, signal, onEvent });
}
