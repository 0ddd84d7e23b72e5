import pLimit from "p-limit";
import { withChunkSeparator } from "../../hierarchy/chunk-separator.ts";
import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { findNode } from "../../hierarchy/open/above-on-use.ts";
import type { OpenSource } from "../../hierarchy/open/open.ts";
import type { ReadOptions } from "../../hierarchy/read-options.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { joinKey } from "../../util/node-path.ts";
import { pickOptions } from "../../util/options.ts";
import { type OpenedSource, openSource } from "../request/open-source.ts";
import { TREE_OPTIONS, type TreeNode, tree } from "../tree.ts";
import { type ChunkMap, chunkMap } from "./chunk-map.ts";
import { describeViewed, type ViewedNode } from "./describe-node.ts";
import {
  type Cut,
  type DimensionLabels,
  type DrawnNumbers,
  readDrawnNumbers,
  readLabels,
} from "./read-numbers.ts";

/**
 * An array or a hierarchy that a page shows part by part. Values are read for one request at a time, within the budget.
 */
export class ViewedSource {
  /** Its URL, or text in its place. */
  readonly url: string;
  readonly #source: OpenSource;
  readonly #opened: OpenedSource;
  readonly #options: ReadOptions;
  /** Nodes by path, as last shown. */
  readonly #nodes = new Map<string, Promise<ZarrNode>>();
  readonly #oneByOne = pLimit(1);

  private constructor(url: string, source: OpenSource, opened: OpenedSource, options: ReadOptions) {
    this.url = url;
    this.#source = source;
    this.#opened = opened;
    this.#options = options;
  }

  /** @param source the source, if `url` is only a name for it. @throws as `open` */
  static async open(url: string, options: ReadOptions, source: OpenSource = url): Promise<ViewedSource> {
    return new ViewedSource(url, source, await openSource(source, options), options);
  }

  /** All nodes, as they are now. @throws as `tree` */
  tree(signal: AbortSignal): AsyncGenerator<TreeNode> {
    return tree(this.#source, { ...pickOptions(this.#options, TREE_OPTIONS), signal });
  }

  /** Describes the present state of a node. @throws `not-found`; as `open` */
  async describe(path: string, signal: AbortSignal): Promise<ViewedNode> {
    this.#nodes.clear();
    const open = (at: string) => this.#find(at, signal);
    const node = await this.#node(path);
    return describeViewed(node, open, signal);
  }

  async chunks(path: string, signal: AbortSignal): Promise<ChunkMap | undefined> {
    return chunkMap(await this.#array(path, signal), signal);
  }

  /** @throws as `readNumbers` */
  async numbers(path: string, cuts: readonly Cut[], signal: AbortSignal): Promise<DrawnNumbers> {
    const array = await this.#array(path, signal);
    assertInside(array, cuts);
    return this.#inTurn(signal, () => readDrawnNumbers(array, cuts, { ...this.#options, signal }));
  }

  /** @throws what reading throws */
  async labels(
    path: string,
    { d, name }: { readonly d: number; readonly name: string },
    cut: Cut,
    signal: AbortSignal,
  ): Promise<DimensionLabels | undefined> {
    const array = await this.#array(path, signal);
    const length = array.shape[d] ?? 0;
    assertInside({ shape: [length], path }, [cut]);
    const options = { ...this.#options, signal };
    return this.#inTurn(signal, () => readLabels(array, { name, length }, cut, options));
  }

  async close(): Promise<void> {
    await this.#opened.close();
  }

  #inTurn<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> {
    return this.#oneByOne(() => {
      signal.throwIfAborted();
      return read();
    });
  }

  async #array(path: string, signal: AbortSignal): Promise<ZarrArray> {
    const node = await this.#node(path);
    if (node.kind === "array") return withChunkSeparator(node, { signal });
    throw new ZarrflowError("not-found", "this is a group, not an array", { path });
  }

  #node(path: string): Promise<ZarrNode> {
    const known = this.#nodes.get(path);
    if (known) return known;
    const at = joinKey(this.#opened.root.path, path);
    const finding = this.#find(at, undefined).then((node) => {
      if (node) return node;
      throw new ZarrflowError("not-found", `no array or group at \`${path}\``, { path });
    });
    this.#nodes.set(path, finding);
    finding.catch(() => this.#nodes.delete(path));
    return finding;
  }

  #find(path: string, signal: AbortSignal | undefined): Promise<ZarrNode | undefined> {
    const { spec, layout, reading } = this.#opened.root;
    return findNode(this.#opened.store, spec, path, { ...reading, zarrFormat: layout.zarrFormat, signal });
  }
}

/** @throws `invalid-selection` */
function assertInside(
  { shape, path }: { readonly shape: readonly number[]; readonly path: string },
  cuts: readonly Cut[],
): void {
  const isInside = ({ start, step, count }: Cut, d: number) =>
    [start, step, count].every(Number.isSafeInteger) &&
    start >= 0 &&
    step >= 1 &&
    count >= 1 &&
    start + (count - 1) * step < (shape[d] ?? 0);
  if (cuts.length === shape.length && cuts.every(isInside)) return;
  throw new ZarrflowError("invalid-selection", "this part is outside the array", { path });
}
