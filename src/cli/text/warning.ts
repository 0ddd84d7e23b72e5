import type { Warning } from "../../flows/request/warnings.ts";
import { printable } from "./printable.ts";

/** A warning as a line. */
export function warningText({ message, key, path, hint }: Warning): string {
  const about = key !== undefined ? ` (key ${printable(key)})` : path ? ` (${printable(path)})` : "";
  return `warning: ${printable(message)}${about}${hint ? `; ${printable(hint)}` : ""}`;
}
