import { warningLine } from "../../flows/text/plan.ts";
import type { Warning } from "../../plan/warnings.ts";
import type { ReadEvent, WarningEvent } from "../../run/events.ts";
import type { Terminal } from "../terminal.ts";
import { flagNamed } from "./failure.ts";

/** A warning as a line that names flags instead of options. */
export function warningText(warning: Warning): string {
  return warningLine({ ...warning, message: flagNamed(warning.message) });
}

/** Returns a listener that prints warnings, unless they are off, and passes all other events on. */
export function printWarnings(
  { printLine }: Terminal,
  { "no-warnings": noWarnings }: { readonly "no-warnings"?: boolean | undefined },
  onEvent: (event: ReadEvent) => void = () => {},
): (event: ReadEvent | WarningEvent) => void {
  return (event) => {
    if (event.type !== "warning") onEvent(event);
    else if (!noWarnings) printLine(warningText(event));
  };
}
