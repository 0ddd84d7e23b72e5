import { files } from "../stores/files.node.ts";
import { ledgerKey, randomName } from "../stores/reserved-names.ts";
import { type Journal, type StoreOptions, valueAtMost, type WritableStore } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";
import { checkedLine, wholeLines } from "./journal.ts";

/**
 * Milliseconds between two values, at least. In a long run it is this fraction of the run's time, which limits both the
 * number of values and the work that a kill can lose. The first value is written immediately, because it shows whose
 * the values are that follow.
 */
const WRITE_AFTER = 5000;
const PART_OF_RUN = 0.01;
/** Characters of lines that are written without waiting for that time. */
const GATHERED = 4 * 1024 * 1024;
/** Maximum size in bytes of a value that is read. */
const MAX_VALUE = 64 * 1024 * 1024;

export type JournalStore = Pick<
  WritableStore,
  "description" | "folder" | "get" | "set" | "delete" | "deleteMany"
>;

/**
 * A journal as values of a store, numbered from 0 by their keys, each with the lines of some time: for stores that
 * cannot append to a value. Each value starts with a line that names the journal, so that values of other journals
 * are not mistaken for its own.
 */
export class ValueJournal implements Journal {
  readonly description: string;
  readonly boot: string | undefined;
  readonly isDurable: boolean;
  readonly #store: JournalStore;
  readonly #keyOf: (number: number) => string;
  readonly #name: string;
  readonly #began = performance.now();
  /** Number of the next value; undefined for an existing journal until its end has been read. */
  #next: number | undefined;
  #lines = "";
  #writtenAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #failure: unknown;

  private constructor(
    store: JournalStore,
    keyOf: (number: number) => string,
    { name, next, boot }: { name: string; next: number | undefined; boot: string | undefined },
  ) {
    this.description = `ledger in ${store.description}`;
    this.boot = boot;
    this.isDurable = store.folder === undefined;
    this.#store = store;
    this.#keyOf = keyOf;
    this.#name = name;
    this.#next = next;
  }

  /** Makes a new journal; nothing is written yet. */
  static async create(store: JournalStore, keyOf = ledgerKey): Promise<ValueJournal> {
    return new ValueJournal(store, keyOf, { name: randomName(), next: 0, boot: await bootNow() });
  }

  /** Finds the journal that a run has left; undefined without one. */
  static async find(
    store: JournalStore,
    { keyOf = ledgerKey, ...options }: StoreOptions & { readonly keyOf?: (number: number) => string } = {},
  ): Promise<ValueJournal | undefined> {
    const first = await valueAtMost(store, keyOf(0), MAX_VALUE, options);
    const name = first && nameIn(first);
    return name === undefined
      ? undefined
      : new ValueJournal(store, keyOf, { name, next: undefined, boot: await bootNow() });
  }

  /** True if the journal has lines, or was found. */
  get isBegun(): boolean {
    return this.#next !== 0 || this.#lines !== "";
  }

  async *lines(): AsyncIterable<string> {
    await this.#writing;
    for (let number = 0; this.#next === undefined || number < this.#next; number++) {
      const value = await valueAtMost(this.#store, this.#keyOf(number), MAX_VALUE);
      if (value === undefined || nameIn(value) !== this.#name) {
        this.#next ??= number;
        break;
      }
      yield* linesAfterName(value);
    }
    yield* wholeLines([new TextEncoder().encode(this.#lines)]);
  }

  append(line: string): void {
    if (this.#failure) throw this.#failure;
    this.#lines += checkedLine(line);
    if (this.#lines.length >= GATHERED) this.#write();
    else this.#timer ??= this.#writeLater();
  }

  async flush(): Promise<void> {
    this.#write();
    await this.#writing;
    if (this.#failure) throw this.#failure;
  }

  /** Ends writing. Lines that are not written yet stay in memory until `flush` writes them. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#writing;
    if (this.#failure) throw this.#failure;
  }

  /** Deletes the journal from its last value backwards, so that the rest is still a journal if this fails. */
  async remove(): Promise<void> {
    await this.close().catch(() => {});
    if (this.#next === undefined) for await (const _ of this.lines());
    while (this.#next) {
      await this.#store.delete(this.#keyOf(this.#next - 1));
      this.#next--;
    }
  }

  #writeLater(): ReturnType<typeof setTimeout> {
    const now = performance.now();
    const spacing = Math.max(WRITE_AFTER, PART_OF_RUN * (now - this.#began));
    const timer = setTimeout(() => this.#write(), Math.max(0, this.#writtenAt + spacing - now));
    (timer as { unref?: () => void }).unref?.();
    return timer;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines === "" || this.#failure) return;
    const number = this.#next;
    if (number === undefined) throw new RangeError("an existing journal must be read before writing to it");
    const bytes = new TextEncoder().encode(`${nameLine(this.#name)}${this.#lines}`);
    this.#lines = "";
    this.#next = number + 1;
    this.#writtenAt = performance.now();
    this.#writing = this.#writing
      .then(() => this.#failure ?? this.#store.set(this.#keyOf(number), bytes))
      .then(
        () => {},
        (error: unknown) => {
          this.#failure ??= error;
        },
      );
  }
}

async function bootNow(): Promise<string | undefined> {
  return (await files?.processes())?.thisProcess().boot;
}

function nameLine(name: string): string {
  return checkedLine(JSON.stringify({ journal: name }));
}

/** Returns the name of the journal that a value belongs to; undefined for any other value. */
function nameIn(value: Uint8Array): string | undefined {
  const [first = ""] = new TextDecoder().decode(value.subarray(0, 100)).split("\n", 1);
  return /^\{"journal":"([0-9a-f]{12})"\} [0-9a-f]{8}$/.exec(first)?.[1];
}

async function* linesAfterName(value: Uint8Array): AsyncGenerator<string> {
  let isName = true;
  for await (const line of wholeLines([value])) {
    if (!isName) yield line;
    isName = false;
  }
}

/** Makes the error for a place that contains the work of an unfinished run. */
export function unfinishedThere(store: string, key?: string): ZarrflowError {
  return new ZarrflowError("target-not-empty", "an unfinished run left files at the target", {
    store,
    ...(key !== undefined && { key }),
    hint: "Continue that run with --resume, or remove its files with `zarrflow clean`.",
  });
}
