import type { ReadEvent, WarningEvent } from "../../flows/events.ts";
import type { Warning } from "../../flows/request/warnings.ts";
import type { Terminal } from "../terminal.ts";
import { flagNamed } from "./failure.ts";
import { printable } from "./printable.ts";

/** A warning as a line, and its way out as a sentence. */
export function warningText({ message, key, path, hint }: Warning): string {
  const about = key !== undefined ? ` (key ${printable(key)})` : path ? ` (${printable(path)})` : "";
  return `warning: ${printable(flagNamed(message))}${about}${hint ? `. ${printable(hint)}` : ""}`;
}

/** Prints warnings about what is read, unless none are wanted, and passes all other events on. */
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
