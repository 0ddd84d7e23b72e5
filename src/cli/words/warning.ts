import type { Warning } from "../../flows/warnings.ts";
import { printable } from "./printable.ts";

/** A warning as a line. */
export function warningText({ message, key, hint }: Warning): string {
  const about = key === undefined ? "" : ` (key ${printable(key)})`;
  return `warning: ${printable(message)}${about}${hint ? `; ${printable(hint)}` : ""}`;
}
