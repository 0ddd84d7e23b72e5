import type { ReadEvent, WarningEvent } from "../../flows/events.ts";
import type { Terminal } from "../terminal.ts";
import { warningText } from "../text/warning.ts";

/** Tells warnings of what is read, unless only results are wanted, and passes all other events on. */
export function printWarnings(
  { tell }: Terminal,
  { quiet }: { readonly quiet?: boolean | undefined },
  onEvent: (event: ReadEvent) => void = () => {},
): (event: ReadEvent | WarningEvent) => void {
  return (event) => {
    if (event.type !== "warning") onEvent(event);
    else if (!quiet) tell(warningText(event));
  };
}
