import { isDocumentKey } from "../../hierarchy/edit/delete.ts";
import { outerPrefixes } from "../../meta/folder-layout.ts";
import type { Documents } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { assertListable } from "../../stores/assertions.ts";
import type { ListableStore, StoreOptions, WritableStore } from "../../stores/store.ts";
import { writerMemory } from "../../stores/store-memory.ts";
import { isZip } from "../../stores/store-traits.ts";
import { followSignals } from "../../util/abort.ts";
import { pagesAhead, type ReadableStream } from "../../util/web-streams.ts";
import { otherFormatsWarning } from "../plan/other-formats.ts";
import type { Plan } from "../plan/plan.ts";
import { type CopyKeysOptions, copyKeys, listKeysToCopy } from "./copy-keys.ts";
import type { KeyToCopy } from "./copy-small-values.ts";
import { folderCheck, keysToCopy } from "./keys-to-copy.ts";
import { ListedChunks } from "./listed-chunks.ts";

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
    options: Omit<CopyKeysOptions, "listed" | "concurrency" | "writerBytes">,
  ): Promise<void> {
    const { execution, jobs } = this.#plan;
    const writerBytes = writerMemory(this.#plan.target.store);
    const copying = { ...options, concurrency: execution.concurrency, writerBytes };
    await copyKeys(this.#source, target, { ...copying, listed: this.#ahead ?? this.#listed(false) });
    this.#chunks.noteMissing(this.#source, jobs);
    if (this.#areLate) await copyKeys(this.#source, target, { ...copying, listed: this.#listed(true) });
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
    const options = { targetKeyOf, onFolder: folderCheck(this.#plan), asStored: isZip(target.store), signal };
    for (const prefix of outerPrefixes(formatNamed(publication.from).layout(source.path))) {
      yield* listKeysToCopy(this.#source, { ...options, prefix });
    }
  }
}
