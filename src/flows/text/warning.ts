import type { Warning } from "../request/warnings.ts";
import { printable } from "./printable.ts";

/** A warning as a line, followed by its hint as a sentence. */
export function warningLine({ message, key, path, hint }: Warning): string {
  const about = key !== undefined ? ` (key ${printable(key)})` : path ? ` (${printable(path)})` : "";
  return `warning: ${printable(message)}${about}${hint ? `. ${printable(hint)}` : ""}`;
}
