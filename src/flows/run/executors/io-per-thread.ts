import type { Plan } from "../../plan/plan.ts";

/** Requests that one of so many threads has in flight, for each store. */
export function ioPerThread({ execution }: Plan, threads: number): number {
  return Math.max(1, Math.floor(execution.io / threads));
}
