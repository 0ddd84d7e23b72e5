import { expect } from "vitest";
import type { FlowEvent } from "../../src/run/events.ts";

type Run<T> = (options: {
  readonly stop: AbortSignal;
  readonly onEvent: (event: FlowEvent) => void;
}) => Promise<T>;

/** What came of a run that was told to stop after so many events of some types, and all its events. */
export async function endedAfter<T>(
  steps: number,
  run: Run<T>,
  types: readonly FlowEvent["type"][] = ["task-end"],
): Promise<{ readonly ended: T | Error; readonly events: readonly FlowEvent[] }> {
  const stopping = new AbortController();
  const events: FlowEvent[] = [];
  let done = 0;
  const onEvent = (event: FlowEvent) => {
    events.push(event);
    if (types.includes(event.type) && ++done >= steps) stopping.abort(new Error("enough"));
  };
  const ended = await run({ stop: stopping.signal, onEvent }).catch((error: Error) => error);
  return { ended, events };
}

/** The events of a run that was stopped after so many tasks. */
export async function stoppedAfter(steps: number, run: Run<unknown>): Promise<readonly FlowEvent[]> {
  const { ended, events } = await endedAfter(steps, run);
  expect(ended).toMatchObject({ code: "aborted" });
  return events;
}

/** How many tasks and keys a run said that it had done, when it was stopped. */
export function unfinishedOf(events: readonly FlowEvent[]): {
  readonly tasks: number;
  readonly keys: number;
} {
  const [{ tasks, keys } = { tasks: 0, keys: 0 }] = events.filter((event) => event.type === "unfinished");
  return { tasks, keys };
}
