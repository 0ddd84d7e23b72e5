import { throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { type ReadableStream, streamFrom, streamFromPages } from "../../util/web-streams.ts";
import type { FileCalls } from "../files/file-calls.ts";
import { assertPrefix } from "../key.ts";
import type { KeyEntry, ListedEntry, ListedRun, ListOptions, StoreOptions } from "../store.ts";
import type { DirectoryTree } from "./directory-tree.ts";
import { type Listing, namesIn, walkKeys } from "./listing.ts";

export interface DirectoryListingsOptions {
  readonly folders: DirectoryTree;
  readonly files: FileCalls;
  /** Makes the error for a failure at a key or a prefix. */
  readonly failure: (error: unknown, key: string | undefined) => unknown;
}

/** The listings of a directory store. */
export class DirectoryListings {
  readonly #options: DirectoryListingsOptions;

  constructor(options: DirectoryListingsOptions) {
    this.#options = options;
  }

  /** Implements `list` of a store. */
  keys(prefix: string, { signal, onUnreadable, onFolder }: ListOptions): ReadableStream<KeyEntry> {
    assertPrefix(prefix);
    const keys = walkKeys({ ...this.#listing(onUnreadable), onFolder }, prefix, signal);
    return streamFromPages(
      this.#pages(prefix, keys, (key) => ({ key })),
      signal,
    );
  }

  /** Implements `listDirectory` of a store. */
  level(prefix: string, { signal, onUnreadable }: ListOptions): ReadableStream<ListedEntry> {
    assertPrefix(prefix);
    const names = async function* (listing: Listing) {
      throwIfAborted(signal);
      yield await namesIn(listing, prefix);
    };
    const entryOf = (name: string) =>
      name.endsWith("/") ? { prefix: prefix + name } : { key: prefix + name };
    return streamFromPages(this.#pages(prefix, names(this.#listing(onUnreadable)), entryOf), signal);
  }

  /** Implements `listRuns` of a store. */
  runs({ signal }: StoreOptions): ReadableStream<ListedRun> {
    return streamFrom(this.#runs(signal));
  }

  #listing(report: ListOptions["onUnreadable"]): Listing {
    const { folders, files, failure } = this.#options;
    const onUnreadable = (name: string, reason: unknown) => {
      const error = failure(reason, name);
      if (report === undefined || !isOfEntry(error)) throw error;
      report(name, error);
    };
    return { folders, files, onUnreadable };
  }

  async *#runs(signal: AbortSignal | undefined): AsyncGenerator<ListedRun> {
    const { runsBelow } = await import("./runs-below.ts");
    try {
      yield* runsBelow(this.#options.folders.pathOf(""), "", signal);
    } catch (error) {
      throw this.#options.failure(error, undefined);
    }
  }

  async *#pages<T>(
    prefix: string,
    pages: AsyncIterable<readonly string[]>,
    entryOf: (name: string) => T,
  ): AsyncGenerator<T[]> {
    try {
      for await (const names of pages) yield names.map(entryOf);
    } catch (error) {
      throw this.#options.failure(error, prefix);
    }
  }
}

/** True if a failure concerns one file or folder, not the disk or the process. */
function isOfEntry(error: unknown): error is ZarrflowError {
  const codes = ["corrupt-store", "path-not-allowed", "access-denied", "resource-limit"];
  return error instanceof ZarrflowError && codes.includes(error.code);
}
