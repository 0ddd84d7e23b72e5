import type { StoreSpec } from "../../stores/store.ts";
import type { Plan } from "../plan/plan.ts";

/** Whether a store is made of files here, which answer at once: nothing is won by asking for several values together. */
export function isLocal({ kind }: StoreSpec): boolean {
  return kind === "directory" || kind === "zip";
}

/** Requests that one of so many threads has in flight, for each store. */
export function requestsEach({ budget }: Plan, threads: number): number {
  return Math.max(1, Math.floor(budget.io / threads));
}
