import { printable, printableLines } from "../../flows/text/format.ts";
import { type ErrorDetails, isZarrflowError, type ZarrflowError } from "../../util/errors.ts";
import { counted, grouped, shellWord } from "../../util/names.ts";
import { withFlagAlone } from "../../util/options.ts";
import { redact } from "../../util/redact.ts";
import { toJson } from "./results.ts";

export interface FailureWords {
  /** Prints one line of JSON instead of words. */
  readonly json?: boolean | undefined;
  readonly color?: boolean | undefined;
  /** The state of the run, if it can be resumed. */
  readonly unfinished?: UnfinishedWords | undefined;
}

/** The program's name in color, the only colored text. */
export const COLORED_NAME = "\u001b[31mzarrflow:\u001b[39m";

/** Describes a failure in a few lines. Prints a stack only for a bug in the program itself. */
export function failureText(
  error: unknown,
  { json = false, color = false, unfinished }: FailureWords = {},
): string {
  if (json) return toJson({ error: failureJson(error), unfinished });
  const name = color ? COLORED_NAME : "zarrflow:";
  if (!isZarrflowError(error)) {
    return `${name} this is a bug in zarrflow; please report it\n${printableLines(redact(stackOf(error)))}`;
  }
  const pointers = isZarrflowError(error, "loss-refused") ? error.details.pointers : undefined;
  const lines = detailLines(inFlags(error), pointers).map((line) => `  ${printable(line)}`);
  return [
    `${name} ${printable(withFlagAlone(error.message, error.details.option))}`,
    ...lines,
    ...unfinishedLines(unfinished, isDamaged(error)),
  ].join("\n");
}

/** The details of an error. If the library's hint is "Replace it", the hint names the flags. */
function inFlags({ code, details }: ZarrflowError): ErrorDetails {
  if (code !== "target-exists" || !details.hint?.startsWith("Replace it")) return details;
  return {
    ...details,
    hint: "Use --if-exists replace to replace it, or --if-exists skip to keep it.",
  };
}

/** True if stored data must be repaired before a run can continue. */
function isDamaged({ code }: ZarrflowError): boolean {
  return code === "corrupt-chunk" || code === "corrupt-store";
}

function unfinishedLines(unfinished: UnfinishedWords | undefined, isDamaged: boolean): string[] {
  if (unfinished === undefined) return [];
  const { tasks, allTasks, resume, clean } = unfinished;
  const done = allTasks === 0 ? "what was copied" : `${grouped(tasks)} of ${counted(allTasks, "task")}`;
  const when = isDamaged ? ", after repairing the damage" : "";
  return [`  kept: ${done}`, `  to continue${when}: ${resume}`, `  to remove it: ${clean}`].map(printable);
}

/** The details that the message does not contain. */
function detailLines(
  { store, format, value, pointer, hint }: ErrorDetails,
  pointers: readonly string[] | undefined,
): string[] {
  return [
    store !== undefined && `store: ${store}`,
    format !== undefined && `format: ${format}`,
    value !== undefined && `value: ${value}`,
    pointers !== undefined && pointer === undefined && `pointers: ${pointers.join(", ")}`,
    hint !== undefined && `hint: ${hint}`,
  ].filter((line) => line !== false);
}

function failureJson(error: unknown): object {
  if (!isZarrflowError(error)) return { code: "fault", exitCode: 1, stack: stackOf(error) };
  const { code, exitCode, message, reason } = error;
  return { code, exitCode, message, reason, ...inFlags(error) };
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Flags whose values are credentials, which are never shown. */
const SECRET_FLAGS = ["--header", "--query"];

/** The state of a run that ended early, and the commands to continue or discard it. */
export interface UnfinishedWords {
  /** Completed tasks, and all tasks. */
  readonly tasks: number;
  readonly allTasks: number;
  /** The command that resumes it. */
  readonly resume: string;
  /** The command that removes what it has written. */
  readonly clean: string;
}

/** A run that failed or was stopped, and can be resumed. */
export class UnfinishedRunError extends Error {
  override readonly name = "UnfinishedRunError";
  readonly words: UnfinishedWords;

  constructor(cause: unknown, words: UnfinishedWords) {
    super("the run ended early", { cause });
    this.words = words;
  }
}

/** The command that was run, with the flag that resumes it. */
export function resumingCommand(): string {
  const words = process.argv.slice(2);
  return commandLine(words.includes("--resume") ? words : [...words, "--resume"]);
}

/** A command as typed in a shell, without credentials. */
export function commandLine(words: readonly string[]): string {
  return ["zarrflow", ...withoutSecretFlags(words)].map((word) => shellWord(redact(word))).join(" ");
}

/** The words of a command with `***` for the values of flags that are credentials. */
export function withoutSecretFlags(words: readonly string[]): string[] {
  return words.map((word, i) => {
    if (SECRET_FLAGS.includes(words[i - 1] ?? "") && !word.startsWith("@")) return "***";
    const flag = SECRET_FLAGS.find((name) => word.startsWith(`${name}=`) && !word.startsWith(`${name}=@`));
    return flag === undefined ? word : `${flag}=***`;
  });
}
