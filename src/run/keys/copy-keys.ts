import { isDocumentKey } from "../../hierarchy/edit/delete.ts";
import type { Documents } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { outerPrefixes } from "../../meta/node-layout.ts";
import { otherFormatsWarning } from "../../plan/documents.ts";
import type { Plan } from "../../plan/plan.ts";
import { assertListable } from "../../stores/assertions.ts";
import type {
  KeyEntry,
  ListableStore,
  StoredValue,
  StoreOptions,
  WritableStore,
} from "../../stores/store.ts";
import { isZip, writerMemory } from "../../stores/store-traits.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { followSignals, throwIfAborted } from "../../util/abort.ts";
import { pagesAhead, pagesFrom, type ReadableStream } from "../../util/web-streams.ts";
import { KeyCopier, type KeyCopierOptions, type KeyToCopy } from "./key-copier.ts";
import { folderCheck, keysToCopy, ListedChunks, listWanted } from "./keys-to-copy.ts";

/** Number of keys that are listed ahead of copying at most. */
const MAX_AHEAD = 10_000;

export interface AllKeysOptions extends StoreOptions {
  /** The documents that the run publishes itself, and so does not copy. */
  readonly documents: Documents;
  /** If true, documents among the keys that are not part of the hierarchy are copied after all other keys. */
  readonly documentsLast: boolean;
  /** True for target keys that this process copies, if others copy the rest; by default all. */
  readonly hasKey?: ((key: string) => boolean) | undefined;
}

/** Copies all keys that a plan copies unchanged. */
export class AllKeys {
  readonly #source: ListableStore;
  readonly #plan: Plan;
  readonly #options: AllKeysOptions;
  readonly #stop = new AbortController();
  readonly #following: ReturnType<typeof followSignals>;
  readonly #chunks = new ListedChunks();
  readonly #otherFormats = new Set<string>();
  #areLate = false;
  #ahead: ReadableStream<readonly KeyToCopy[]> | undefined;

  /** @param source a store that can list its keys */
  constructor(source: Parameters<typeof assertListable>[0], plan: Plan, options: AllKeysOptions) {
    this.#source = assertListable(source);
    this.#plan = plan;
    this.#options = options;
    this.#following = followSignals(options.signal, this.#stop.signal);
  }

  /** Starts the listing while other work precedes the copying. */
  listAhead(): void {
    this.#ahead = pagesAhead(this.#listed(false), MAX_AHEAD);
  }

  /** @throws as `copyKeys` */
  async copyTo(
    target: WritableStore,
    options: Omit<CopyKeysOptions, "listed" | "source" | "target" | "concurrency" | "writerBytes">,
  ): Promise<void> {
    const { execution, jobs } = this.#plan;
    const writerBytes = writerMemory(this.#plan.target.store);
    const stores = { source: this.#source, target };
    const copying = { ...options, ...stores, concurrency: execution.concurrency, writerBytes };
    await copyKeys({ ...copying, listed: this.#ahead ?? this.#listed(false) });
    this.#chunks.noteMissing(this.#source, jobs);
    if (this.#areLate) await copyKeys({ ...copying, listed: this.#listed(true) });
    const warning = otherFormatsWarning(this.#plan, [...this.#otherFormats]);
    if (warning) options.log.emit({ type: "warning", ...warning });
  }

  /** Ends a listing that is not read to its end. */
  async end(): Promise<void> {
    this.#stop.abort();
    await this.#ahead?.cancel().catch(() => {});
    this.#following.end();
  }

  /** Lists either the keys that are copied first, or the late documents. */
  async *#listed(late: boolean): AsyncGenerator<readonly KeyToCopy[]> {
    const { source, target, publication } = this.#plan;
    const { documents, documentsLast, hasKey = () => true } = this.#options;
    const layout = formatNamed(publication.zarrFormat).layout(target.path);
    const isLate = (key: string) => documentsLast && isDocumentKey(key, layout);
    const anyTargetKeyOf = keysToCopy(this.#plan, documents, {
      onChunk: late ? undefined : this.#chunks.count,
      onOtherFormat: (key) => this.#otherFormats.add(key),
    });
    const targetKeyOf = (key: string) => {
      const targetKey = anyTargetKeyOf(key);
      if (targetKey === undefined || (!key.endsWith("/") && !hasKey(targetKey))) return undefined;
      if (isLate(targetKey) === late) return targetKey;
      this.#areLate = true;
      return undefined;
    };
    const { signal } = this.#following;
    const options = { onFolder: folderCheck(this.#plan), asStored: isZip(target.store), signal };
    for (const prefix of outerPrefixes(formatNamed(publication.from).layout(source.path))) {
      const pages = pagesFrom(listWanted(this.#source, prefix, targetKeyOf, options));
      yield* keysToCopyFrom(pages, targetKeyOf);
    }
  }
}

export interface CopyKeysOptions extends KeyCopierOptions, StoreOptions {
  /** The keys to copy, in pages. */
  readonly listed: AsyncIterable<readonly KeyToCopy[]>;
  /** True for a value that the target already has, copied by an earlier run. */
  readonly isDone?: (value: StoredValue) => boolean;
  /** Aborted to stop copying after the current keys. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * Selects the listed keys that are copied, page by page.
 *
 * @param targetKeyOf maps a source key to its key in the target; undefined for a key that is not copied here
 */
export async function* keysToCopyFrom(
  pages: AsyncIterable<readonly KeyEntry[]>,
  targetKeyOf: (key: string) => string | undefined,
): AsyncGenerator<readonly KeyToCopy[]> {
  for await (const page of pages) {
    yield page.flatMap((listed) => {
      const targetKey = targetKeyOf(listed.key);
      return targetKey === undefined ? [] : { ...listed, targetKey };
    });
  }
}

/**
 * Copies listed values of a source, byte for byte, never holding all keys in memory.
 *
 * @throws what the stores throw, with the key; `aborted` if stopped before the last key.
 */
export async function copyKeys({ listed, isDone, stop, signal, ...options }: CopyKeysOptions): Promise<void> {
  const { source, concurrency, log } = options;
  const copier = await KeyCopier.open(options);
  const wanted = untilStopped(isDone ? notDone(listed, { source, isDone, log, signal }) : listed, stop);
  const left = copier.copySmall(wanted, { signal });
  await forEachConcurrent(left, (value, context) => copier.copy(value, context), { concurrency, signal });
  throwIfAborted(stop);
}

async function* untilStopped<T>(pages: AsyncIterable<T>, stop: AbortSignal | undefined): AsyncGenerator<T> {
  for await (const page of pages) {
    if (stop?.aborted) return;
    yield page;
  }
}

type DoneOptions = Required<Pick<CopyKeysOptions, "isDone">> &
  Pick<CopyKeysOptions, "source" | "log" | "signal">;

/** Yields the values that the target does not have yet. */
async function* notDone(
  pages: AsyncIterable<readonly KeyToCopy[]>,
  { source, isDone, log, signal }: DoneOptions,
): AsyncGenerator<readonly KeyToCopy[]> {
  for await (const page of pages) {
    const left: KeyToCopy[] = [];
    for (const value of page) {
      const size = value.size ?? (await source.size(value.key, { signal }));
      if (size !== undefined && isDone({ key: value.targetKey, size })) log.keyResumed(value.targetKey, size);
      else left.push(value);
    }
    yield left;
  }
}
