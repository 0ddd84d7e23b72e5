import { fillData } from "../../../codecs/filled-data.ts";
import { maxStoredSize } from "../../../codecs/limits.ts";
import type { ZarrArray } from "../../../hierarchy/node.ts";
import { decodeChunks } from "../../../streams/decode-chunks.ts";
import { readChunks } from "../../../streams/read-chunks.ts";
import { plainBuffers } from "../../../util/buffers.ts";
import { formatBytes } from "../../../util/byte-size.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { chunksOf } from "../../slabs/selected-chunks.ts";
import { typedValues } from "../../slabs/typed-values.ts";
import { compareKeys, type Key, type LabelScale } from "./label-scale.ts";

/** Estimated memory of one key. */
const KEY_BYTES = 16;

export interface CoordinateOptions {
  /** Maximum bytes of the coordinate's values. */
  readonly maxMemory: number;
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/** The values of a 1-d array, as keys. Reads each chunk once, when one of its items is needed. */
export class Coordinate {
  readonly array: ZarrArray;
  readonly scale: LabelScale;
  readonly #options: CoordinateOptions;
  readonly #chunks = new Map<number, readonly (Key | undefined)[]>();
  #items = 0;

  /** @param array opened at the level of its inner chunks */
  constructor(array: ZarrArray, scale: LabelScale, options: CoordinateOptions) {
    this.array = array;
    this.scale = scale;
    this.#options = options;
  }

  get length(): number {
    return this.array.shape[0] ?? 0;
  }

  get #chunkLength(): number {
    return this.array.chunkShape[0] ?? 1;
  }

  async keyAt(index: number): Promise<Key | undefined> {
    const chunk = Math.floor(index / this.#chunkLength);
    if (!this.#chunks.has(chunk)) await this.#read(chunk * this.#chunkLength, this.#chunkLength);
    return this.#chunks.get(chunk)?.[index % this.#chunkLength];
  }

  /** Reads all keys, in order. */
  async all(): Promise<(Key | undefined)[]> {
    if (this.#items < this.length) {
      this.#items = 0;
      await this.#read(0, this.length);
    }
    return this.#inOrder();
  }

  /** The keys read so far, in order. */
  known(): Key[] {
    return this.#inOrder().filter((key) => key !== undefined);
  }

  /** True if all values read so far are valid and sorted: ascending, or descending if `direction` is -1. */
  isSorted(direction: number): boolean {
    const keys = this.#inOrder();
    return keys.every((key, i) => {
      const before = keys[i - 1];
      return key !== undefined && (before === undefined || direction * compareKeys(before, key) <= 0);
    });
  }

  #inOrder(): (Key | undefined)[] {
    return [...this.#chunks].sort(([a], [b]) => a - b).flatMap(([, keys]) => keys);
  }

  async #read(start: number, count: number): Promise<void> {
    const { array, scale } = this;
    const { maxMemory, concurrency, signal } = this.#options;
    const length = Math.min(count, this.length - start);
    this.#items += length;
    if (this.#items * KEY_BYTES > maxMemory) throw this.#tooLarge();
    const pipeline = await array.pipeline();
    const refs = chunksOf(array, { start: [start], step: [1], shape: [length] });
    const reading = { concurrency, maxEncodedSize: maxStoredSize(pipeline), signal };
    for await (const piece of readChunks(array, refs, reading).pipeThrough(decodeChunks(array))) {
      const values = typedValues(
        piece.data ?? fillData(pipeline.spec, plainBuffers),
        array.metadata.dataType,
      );
      const keys = Array.from({ length: piece.region.shape[0] ?? 0 }, (_, i) => scale.keyOf(values.at(i)));
      this.#chunks.set(Math.floor((piece.region.start[0] ?? 0) / this.#chunkLength), keys);
    }
  }

  #tooLarge(): ZarrflowError {
    const { maxMemory } = this.#options;
    return new ZarrflowError("resource-limit", "the coordinate is too large to look up labels in it", {
      path: this.array.path,
      expected: `at most ${formatBytes(maxMemory)}`,
      hint: "Allow more memory with --max-mem (in code maxMemory), or give indices.",
    });
  }
}
