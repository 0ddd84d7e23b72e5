import type { ReadEvent } from "../../flows/events.ts";
import { printable } from "../words/printable.ts";
import type { Advance } from "./advance.ts";
import { bytesAdvance } from "./bytes-advance.ts";

/** Shows how far the reading of arrays is: each array by itself, the rate over all of them. */
export function readAdvance(show: (advance: Advance) => void): (event: ReadEvent) => void {
  let path: string | undefined;
  let bytesBefore = 0;
  let latest = 0;
  return (event) => {
    if (event.path !== path) bytesBefore += latest;
    ({ path, bytes: latest } = event);
    const { words } = bytesAdvance(event.bytes, event.allBytes);
    show({ bytes: bytesBefore + latest, words: [printable(path), ...words].filter(Boolean) });
  };
}
