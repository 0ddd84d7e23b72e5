import { followSignals } from "../../util/abort.ts";
import { assertKnown, checkedOptions, pickOptions } from "../../util/check-options.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { EventOptions } from "../events.ts";
import type { Planned } from "../request/flow.ts";
import {
  type FlowOptions,
  PLANNING_OPTIONS,
  type PlanningOptions,
  RUN_OPTIONS,
  type RunOptions,
} from "../request/flow-options.ts";

/** What a run is done with, until it ends. */
export interface RunningOptions {
  readonly options: FlowOptions;
  /** The run follows the signals no more. */
  end(): void;
}

/**
 * What something planned is run with: what it was planned with, and what is given to the run. Either signal ends the run,
 * and both hear its events.
 *
 * @throws `invalid-option` for an option that is not one of runs, unless it was planned with the same value.
 */
export function runningOptions(
  { options: planned }: Pick<Planned, "options">,
  given: RunOptions,
): RunningOptions {
  assertKnown(given, { ...PLANNING_OPTIONS, ...RUN_OPTIONS });
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(RUN_OPTIONS, name)) assertAsPlanned(name, value, planned);
  }
  const options = checkedOptions<RunOptions>(pickOptions(given, RUN_OPTIONS), RUN_OPTIONS);
  const onEvent = bothEvents(planned.onEvent, options.onEvent);
  const signals = new Set([planned.signal, options.signal].filter((signal) => signal !== undefined));
  const [only] = signals;
  const following = signals.size > 1 ? followSignals(...signals) : undefined;
  return {
    options: { ...planned, ...options, onEvent, signal: following?.signal ?? only },
    end: () => following?.end(),
  };
}

/** @throws `invalid-option` where something else was planned. */
function assertAsPlanned(name: string, value: unknown, planned: PlanningOptions): void {
  const { [name]: stated }: Readonly<Record<string, unknown>> = { ...planned };
  if (value === undefined || value === stated || textOf(value) === textOf(stated)) return;
  const isSecret = name === "headers" || name === "query";
  throw new ZarrflowError("invalid-option", `the option \`${name}\` contradicts the plan`, {
    expected:
      stated === undefined
        ? `a run without \`${name}\`, as it was planned without`
        : isSecret
          ? "what it was planned with"
          : textOf(stated),
    ...(!isSecret && { found: textOf(value) }),
    hint: `Give \`${name}\` to planCopy, or to the function that made the plan.`,
  });
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === "bigint" ? `${one}n` : one)) ?? String(value);
}

function bothEvents(
  planned: EventOptions["onEvent"],
  given: EventOptions["onEvent"],
): EventOptions["onEvent"] {
  if (planned === undefined || given === undefined || planned === given) return given ?? planned;
  return (event) => {
    planned(event);
    given(event);
  };
}
