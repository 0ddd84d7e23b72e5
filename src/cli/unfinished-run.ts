import { redact } from "../util/redact.ts";

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
export class UnfinishedRun extends Error {
  override readonly name = "UnfinishedRun";
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
  return ["zarrflow", ...withoutSecretFlags(words)].map((word) => quoted(redact(word))).join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The words of a command with `***` for the values of flags that are credentials. */
export function withoutSecretFlags(words: readonly string[]): string[] {
  return words.map((word, i) => {
    if (SECRET_FLAGS.includes(words[i - 1] ?? "") && !word.startsWith("@")) return "***";
    const flag = SECRET_FLAGS.find((name) => word.startsWith(`${name}=`) && !word.startsWith(`${name}=@`));
    return flag === undefined ? word : `${flag}=***`;
  });
}
