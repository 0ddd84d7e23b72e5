import { type ParentHierarchy, placeAround } from "../../hierarchy/edit/parent.ts";
import { hierarchyAt } from "../../hierarchy/parent-hierarchy.ts";
import type { ReadDocumentOptions } from "../../hierarchy/stored-documents.ts";
import type { ZarrFormat } from "../../meta/array-metadata.ts";
import type { StoreOptions, StoreSpec } from "../../stores/store.ts";
import { isPlaceEmpty } from "../../targets/index.ts";
import { followSignals } from "../../util/abort.ts";

/**
 * Milliseconds after which a result is stale. A plan may run much later than it was made; the run then looks again.
 */
const FOUND_FOR = 5000;

interface Found {
  readonly at: number;
  readonly around: Promise<ParentHierarchy | undefined>;
  readonly isEmpty: Promise<boolean>;
  readonly hierarchies: Map<ZarrFormat, Promise<ParentHierarchy | undefined>>;
}

/**
 * Finds out what is at a target and around it. Its requests run at the same time as those to the source; a plan and
 * its run share the results.
 */
export class TargetProbe {
  readonly #spec: StoreSpec;
  readonly #isNew: boolean;
  readonly #stop = new AbortController();
  readonly #following: ReturnType<typeof followSignals>;
  #found: Found;

  /** @param isNew true if the target must not exist, which is then checked too */
  constructor(spec: StoreSpec, { isNew, signal }: StoreOptions & { readonly isNew: boolean }) {
    this.#spec = spec;
    this.#isNew = isNew;
    this.#following = followSignals(signal, this.#stop.signal);
    this.#found = this.#look();
  }

  /** As `placeAround`. */
  around(): Promise<ParentHierarchy | undefined> {
    return this.#latest().around;
  }

  /** The hierarchy around the target and the target's position in it, if any. @throws as `hierarchyAt` */
  hierarchy(zarrFormat: ZarrFormat, options: ReadDocumentOptions): Promise<ParentHierarchy | undefined> {
    const { around, hierarchies } = this.#latest();
    const known = hierarchies.get(zarrFormat) ?? hierarchyOf(around, zarrFormat, options);
    hierarchies.set(zarrFormat, known);
    return known;
  }

  /** True if certainly nothing is at the target. */
  isEmpty(): Promise<boolean> {
    return this.#latest().isEmpty;
  }

  /** Aborts pending requests. */
  async end(): Promise<void> {
    const { around, isEmpty, hierarchies } = this.#found;
    this.#stop.abort();
    await Promise.allSettled([around, isEmpty, ...hierarchies.values()]);
    this.#following.end();
  }

  #latest(): Found {
    if (Math.abs(Date.now() - this.#found.at) > FOUND_FOR) this.#found = this.#look();
    return this.#found;
  }

  #look(): Found {
    const { signal } = this.#following;
    const around = placeAround(this.#spec, { signal });
    const isEmpty = this.#isNew ? isPlaceEmpty(this.#spec, { signal }) : Promise.resolve(false);
    for (const answer of [around, isEmpty]) answer.catch(() => {}); // reported to whoever awaits it
    return { at: Date.now(), around, isEmpty, hierarchies: new Map() };
  }
}

async function hierarchyOf(
  around: Promise<ParentHierarchy | undefined>,
  zarrFormat: ZarrFormat,
  options: ReadDocumentOptions,
): Promise<ParentHierarchy | undefined> {
  const place = await around;
  if (place === undefined) return undefined;
  return hierarchyAt(place, zarrFormat, options);
}
