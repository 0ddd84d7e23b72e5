import { followSignals } from "../../util/abort.ts";
import { checkedOptions } from "../../util/check-options.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { EventOptions } from "../events.ts";
import type { PlannedFlow } from "../request/flow.ts";
import { type FlowOptions, PLANNING_OPTIONS, RUN_OPTIONS, type RunOptions } from "../request/flow-options.ts";

/** The options of a run while it is in progress. */
export interface RunningOptions {
  readonly options: FlowOptions;
  /** Stops following the signals. */
  end(): void;
}

/**
 * Combines the options of the plan with those of the run. Either signal aborts the run, and both callbacks receive its
 * events.
 *
 * @throws `invalid-option` for an option that does not apply to runs.
 */
export function runningOptions(
  { options: planned }: Pick<PlannedFlow, "options">,
  given: RunOptions,
): RunningOptions {
  assertNonePlanned(given);
  const options = checkedOptions(given, RUN_OPTIONS);
  const onEvent = bothEvents(planned.onEvent, options.onEvent);
  const signals = new Set([planned.signal, options.signal].filter((signal) => signal !== undefined));
  const [only] = signals;
  const following = signals.size > 1 ? followSignals(...signals) : undefined;
  return {
    options: { ...planned, ...options, onEvent, signal: following?.signal ?? only },
    end: () => following?.end(),
  };
}

/** @throws `invalid-option` for an option of planning. */
function assertNonePlanned(given: RunOptions): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || Object.hasOwn(RUN_OPTIONS, name) || !Object.hasOwn(PLANNING_OPTIONS, name))
      continue;
    throw new ZarrflowError("invalid-option", `\`${name}\` is an option of plan, not of run`, {
      hint: `What was planned is what runs: give \`${name}\` to \`plan\`.`,
    });
  }
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
