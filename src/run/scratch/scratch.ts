import { accessedBy, type StoreAccess } from "../../stores/access.ts";
import type { StoreSpec, WritableStore } from "../../stores/store.ts";
import { parseStoreUrl } from "../../stores/url.ts";
import type { JointRun } from "../../targets/options.ts";

/** The place of scratch objects during a run. */
export interface Scratch {
  readonly store: WritableStore;
  /**
   * Specification by which a thread opens the same store as one of its `exclusive` owners; absent if no other thread
   * can.
   */
  readonly spec?: StoreSpec;
  /** Removes the objects of a pass once all of them are read. */
  removePass(pass: number): Promise<void>;
  /** Keeps the objects for a run that resumes this one, or removes them if no run can. */
  keep(): Promise<void>;
  /** Removes all objects and closes the store. */
  remove(): Promise<void>;
}

export interface OpenScratchOptions {
  /** A folder or any other store; the system's temporary folder by default. */
  readonly place: StoreSpec | undefined;
  /** Number of bytes that will be written. */
  readonly bytes: number;
  /**
   * The place where the run keeps its progress: a path or, for remote targets, another name. Absent if it keeps none.
   */
  readonly keptBy?: string | undefined;
  /** Scratch objects that an earlier run left and that this run takes over. */
  readonly left?: StoreSpec | undefined;
  /** Present if several processes share the scratch objects, which remain until the last process removes them. */
  readonly joint?: Pick<JointRun, "id" | "share"> | undefined;
}

/** The store named by a path or URL for scratch objects, with access settings. @throws as `parseStoreUrl` */
export function parseScratch(place: string | undefined, access: StoreAccess = {}): StoreSpec | undefined {
  return place === undefined ? undefined : accessedBy(parseStoreUrl(place).spec, access);
}
