import { type ParentHierarchy, placeAround } from "../../hierarchy/edit/parent.ts";
import { hierarchyAt } from "../../hierarchy/parent-hierarchy.ts";
import type { ReadDocumentOptions } from "../../hierarchy/stored-documents.ts";
import type { ZarrFormat } from "../../meta/array-metadata.ts";
import type { StoreOptions, StoreSpec } from "../../stores/store.ts";
import { isPlaceEmpty } from "../../stores/target.ts";
import { followSignals } from "../../util/abort.ts";

/** Milliseconds for which what was found counts: whoever runs a plan later looks again. */
const FOUND_FOR = 5000;

interface Found {
  readonly at: number;
  readonly around: Promise<ParentHierarchy | undefined>;
  readonly isEmpty: Promise<boolean>;
  readonly hierarchies: Map<ZarrFormat, Promise<ParentHierarchy | undefined>>;
}

/**
 * What is at a target and around it. It is asked for at once, beside what is asked of the source, and once for a plan and
 * for its run.
 */
export class TargetProbe {
  readonly #spec: StoreSpec;
  readonly #isNew: boolean;
  readonly #stop = new AbortController();
  readonly #following: ReturnType<typeof followSignals>;
  #found: Found;

  /** @param isNew whether nothing may be at the target, so that it is looked at too */
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

  /** Where it is in the hierarchy around it, if in any. @throws as `hierarchyAt` */
  hierarchy(zarrFormat: ZarrFormat, options: ReadDocumentOptions): Promise<ParentHierarchy | undefined> {
    const { around, hierarchies } = this.#latest();
    const known = hierarchies.get(zarrFormat) ?? hierarchyOf(around, zarrFormat, options);
    hierarchies.set(zarrFormat, known);
    return known;
  }

  /** Whether nothing is there for certain. */
  isEmpty(): Promise<boolean> {
    return this.#latest().isEmpty;
  }

  /** Ends what is still being asked. */
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
    for (const answer of [around, isEmpty]) answer.catch(() => {}); // whoever asks for it learns of that
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
