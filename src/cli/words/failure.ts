import { type ErrorDetails, isZarrflowError } from "../../util/errors.ts";

export interface FailureWords {
  /** One line of JSON instead of words. */
  readonly json?: boolean | undefined;
  readonly color?: boolean | undefined;
}

/** What went wrong: a few lines, and a stack only where it is a fault of the program itself. */
export function failureText(error: unknown, { json = false, color = false }: FailureWords = {}): string {
  if (json) return JSON.stringify({ error: failureJson(error) });
  const name = color ? "\u001b[31mzarrflow:\u001b[39m" : "zarrflow:";
  if (!isZarrflowError(error)) {
    return `${name} this is a fault of zarrflow itself, please report it\n${stackOf(error)}`;
  }
  const lines = detailLines(error.details).map((line) => `  ${line}`);
  return [`${name} ${error.message}`, ...lines].join("\n");
}

/** The details that the message does not hold already. */
function detailLines({ store, format, value, pointers, hint }: ErrorDetails): string[] {
  return [
    store !== undefined && `store: ${store}`,
    format !== undefined && `format: ${format}`,
    value !== undefined && `value: ${value}`,
    pointers !== undefined && `pointers: ${pointers.join(", ")}`,
    hint !== undefined && `hint: ${hint}`,
  ].filter((line) => line !== false);
}

function failureJson(error: unknown): object {
  if (!isZarrflowError(error)) return { code: "fault", exitCode: 1, stack: stackOf(error) };
  const { code, exitCode, message, reason, details } = error;
  return { code, exitCode, message, reason, ...details };
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
