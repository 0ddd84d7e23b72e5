import type { FlowEvent } from "../../../src/index.ts";
import { isZarrflowError } from "../../../src/util/errors.ts";
import { Cut, type CutKind } from "./cut.ts";
import { Expectation, Readings } from "./expectation.ts";
import type { Place } from "./places.ts";
import { before, type Run, runOnce, source } from "./runs.ts";
import { nameOf } from "./states.ts";

/** What was found of one run that was cut many times. */
export interface Found {
  /** Mutating calls of the run. */
  readonly calls: number;
  readonly cuts: number;
  /** Tasks that cut runs had ended, and that the runs which resumed them did not do again. */
  readonly tasksResumed: number;
  /** Those that they did again. */
  readonly tasksRepeated: number;
  /** Cuts that are followed by something wrong, and what that is. */
  readonly wrongCuts: number;
  readonly wrong: readonly string[];
}

export interface EveryCutOptions {
  readonly scratch: string;
  /** About how many cuts of each kind are made; at every call by default. */
  readonly cutsOfKind?: number | undefined;
  /** Whether the next run may refuse what was left, since it may be anybody's. */
  readonly mayBeRefused?: boolean;
}

/**
 * Cuts a run at its calls in each way; after each cut reads what is there, and lets the next run end what was cut: every
 * second one resumes it.
 */
export async function cutEverywhere(
  place: Place,
  run: Run,
  { scratch, cutsOfKind = Number.POSITIVE_INFINITY, mayBeRefused = false }: EveryCutOptions,
): Promise<Found> {
  const readings = new Readings();
  const [old, from] = [await before(run), await source(run)];
  let tasksEnded = 0;
  const onEvent = ({ type }: FlowEvent) => {
    if (type === "task-end") tasksEnded++;
  };
  const calls = async (cut: Cut, resume = false) => {
    await place.reset(old);
    tasksEnded = 0;
    const { targetAt } = place;
    const { signal } = cut;
    await place.during(cut, () => inTime(runOnce(run, { from, targetAt, signal, scratch, resume, onEvent })));
  };
  await place.reset(old);
  const first = await readings.at(place);
  const counting = new Cut();
  await calls(counting);
  const expectation = new Expectation(first, await readings.at(place));

  let [resumed, repeated] = [0, 0];
  /** What the next run, which is to end what was cut, leaves wrong. */
  const goAgain = async (resume: boolean): Promise<string[]> => {
    try {
      const again = { from, targetAt: place.targetAt, scratch, isAgain: true, resume };
      const ended = tasksEnded;
      const { tasksResumed } = await runOnce(run, again);
      if (tasksResumed !== undefined) {
        resumed += tasksResumed;
        repeated += ended - tasksResumed;
      }
      return expectation.unmendedIn(await readings.at(place));
    } catch (error) {
      const isRefused = mayBeRefused && isZarrflowError(error, "target-not-empty");
      return isRefused ? [] : [`again: ${error}`];
    }
  };

  /** What was left by cuts that the next run has ended; it does the same wherever the same is left. */
  const mended = new Set<string>();
  const wrong: string[] = [];
  const every = Math.max(1, Math.floor(counting.calls / cutsOfKind));
  let [cuts, wrongCuts] = [0, 0];
  for (const kind of ["kill", "fail", "abort"] satisfies CutKind[]) {
    for (let at = 0; at < counting.calls; at += every) {
      const isResumed = cuts % 2 === 1;
      const ended = await calls(new Cut(kind, at), isResumed).catch((error) => error);
      const tell = (what: string) => `${kind} at ${at} of ${counting.calls}: ${what}`;
      const found = expectation.wrongIn(await readings.at(place)).map(tell);
      if (ended === HANGS) found.push(tell("hangs"));
      await place.outlastTurns();
      const left = place.everything && nameOf(place.everything());
      if (left === undefined || isResumed || !mended.has(left)) {
        const unmended = (await goAgain(isResumed)).map(tell);
        if (left !== undefined && !isResumed && unmended.length === 0) mended.add(left);
        found.push(...unmended);
      }
      cuts++;
      if (found.length > 0) wrongCuts++;
      wrong.push(...found);
    }
  }
  return { calls: counting.calls, cuts, tasksResumed: resumed, tasksRepeated: repeated, wrongCuts, wrong };
}

const HANGS = new Error("it hangs");

/** What comes of a run, unless it takes far too long. */
async function inTime<T>(run: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(HANGS), 20_000);
  });
  return Promise.race([run, late]).finally(() => clearTimeout(timer));
}
