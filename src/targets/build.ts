import type { Journal, PublishOptions, Store, StoreOptions, TargetBuild } from "../stores/store.ts";
import { throwIfAborted } from "../util/abort.ts";

/**
 * How values become a target: in a folder or a file that is renamed, under their final keys, or as a stream into one
 * value. `targetBuild` decides which of its methods are called, and when.
 */
export interface Medium
  extends Pick<TargetBuild, "store" | "spec" | "controlFolder" | "isInPlace" | "hasValue"> {
  /** By default the store itself. */
  reopen?(): Promise<Store>;
  /** Writes the rest, before the claim is checked for the last time. */
  finish?(options: PublishOptions): Promise<void>;
  /** Makes the target visible. */
  publish?(options: PublishOptions): Promise<void>;
  /** Leaves the unfinished target to a run that resumes this one; returns false if it must be discarded instead. */
  keep?(): Promise<false | undefined>;
  /** Removes the unfinished target and its journal. */
  discard(): Promise<void>;
  /** Ends writing to a target that another run has taken over. */
  abandon?(): Promise<void>;
}

/**
 * The right of one run to write to a place, renewed until it is released. A claim that is not renewed can be taken
 * over.
 */
export interface Claim {
  /**
   * Aborted, with the error to throw, when another run has taken the place over, or may have. Absent if only
   * `assertHeld` shows that.
   */
  readonly lost?: AbortSignal;
  /**
   * Checks that this run still owns the place. With `lately`, a check less than a second ago counts.
   *
   * @throws `locked`
   */
  assertHeld(options?: StoreOptions & { readonly lately?: boolean }): Promise<void>;
  /** True if this run still owns the place. Fails if there is no answer soon, because callers are about to end. */
  isHeld(): Promise<boolean>;
  /** Frees the place; does nothing if another run has it. */
  release(): Promise<void>;
  /** Frees the place, and marks its contents as the work of an ended run. */
  leave(): Promise<void>;
  /** Makes the warning about a place that could not be freed after publishing. Absent if that cannot fail. */
  notReleased?(error: unknown): { readonly message: string; readonly hint: string };
}

/** Parts of a build beside its medium. */
interface BuildMarks {
  /** Absent if the place cannot be claimed. */
  readonly claim?: Claim | undefined;
  /** Absent if no run can resume this one. A journal with `remove` is removed when the target is published. */
  readonly journal?: (Journal & { remove?(): Promise<void> }) | undefined;
}

/** Makes a build from its medium and the marks by which other runs notice it. */
export function targetBuild(medium: Medium, { claim, journal }: BuildMarks = {}): TargetBuild {
  const { store, spec, controlFolder, isInPlace, hasValue } = medium;
  let isPublished = false;
  const discard = async () => {
    if (isPublished) return;
    try {
      // data that another run has taken over belongs to that run
      if (claim === undefined || (await claim.isHeld())) await medium.discard();
      else await medium.abandon?.();
    } catch (error) {
      await claim?.leave().catch(() => {});
      throw error;
    }
    await claim?.release();
  };
  const keep = async () => {
    const isKept = await medium.keep?.().catch(async (error) => {
      await claim?.leave().catch(() => {});
      throw error;
    });
    await (isKept === false ? discard() : claim?.leave());
  };
  return {
    store,
    ...(spec && { spec }),
    ...(controlFolder !== undefined && { controlFolder }),
    ...(isInPlace && { isInPlace }),
    ...(hasValue && { hasValue }),
    ...(journal && { journal }),
    ...(claim?.lost && { lockLost: claim.lost }),
    ...(claim && { assertHeld: (options) => claim.assertHeld(options) }),
    reopen: async () => medium.reopen?.() ?? store,
    async publish(options = {}) {
      const { signal, onWarning } = options;
      throwIfAborted(signal);
      await medium.finish?.(options);
      await claim?.assertHeld({ lately: true, signal });
      await medium.publish?.(options);
      isPublished = true;
      // if a mark remains, readers do not see it, and no run takes the target for unfinished
      const ends = await Promise.allSettled([journal?.remove?.(), claim?.release()]);
      const failed = ends.find((end) => end.status === "rejected");
      if (failed && claim?.notReleased) onWarning?.(claim.notReleased(failed.reason));
    },
    ...(medium.keep && { keep }),
    discard,
  };
}
