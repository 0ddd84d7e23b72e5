import type { StoreOptions, StoreSpec, TargetBuild } from "../../../stores/store.ts";
import { valueText } from "../../../stores/target/holds-value.ts";
import type { Journal } from "../../../stores/target/journal.ts";
import { forEachConcurrent } from "../../../streams/for-each-concurrent.ts";
import { TextHashSet } from "../../../util/text-hash.ts";
import { type LedgerEntry, parseLedgerLine } from "./ledger-lines.ts";
import { TaskSet } from "./task-set.ts";

/** Work completed by earlier runs that need not be repeated. */
export interface DoneBefore {
  readonly tasks: TaskSet;
  /** Totals of the values that these tasks wrote. */
  readonly written: { readonly keys: number; readonly bytes: number };
  /** Documents, and values that were copied without tasks, by key and size. */
  readonly values: TextHashSet;
  /** Place of their scratch objects, if they wrote any since the last boot of the machine. */
  readonly scratch?: StoreSpec | undefined;
}

export interface DoneBeforeOptions extends StoreOptions {
  /** Number of tasks of the plan. */
  readonly tasks: number;
  readonly holds: NonNullable<TargetBuild["holds"]>;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
}

/** A task that ended or a key that was copied, according to a ledger. */
interface Claim {
  readonly task?: number;
  readonly entries: readonly LedgerEntry[];
}

/** Initial state of a run that resumes no other. */
export function nothingDone(tasks: number): DoneBefore {
  return { tasks: TaskSet.empty(tasks), written: { keys: 0, bytes: 0 }, values: new TextHashSet() };
}

/**
 * Reads the completed work from a ledger and checks it against the target: a task counts as done if it ended and all of
 * its values exist.
 */
export async function doneBefore(
  journal: Pick<Journal, "lines" | "boot">,
  { tasks, holds, concurrency, signal }: DoneBeforeOptions,
): Promise<DoneBefore> {
  const done = nothingDone(tasks);
  const { boot } = journal;
  const written = { keys: 0, bytes: 0 };
  let scratch: StoreSpec | undefined;
  const claims = async function* (): AsyncGenerator<Claim> {
    const open = new Map<number, LedgerEntry[]>();
    let bootThen: string | undefined;
    for await (const text of journal.lines()) {
      const line = parseLedgerLine(text);
      if (line === undefined) continue;
      if ("session" in line) {
        open.clear();
        bootThen = line.session.boot;
      } else if ("scratch" in line)
        scratch = boot !== undefined && bootThen === boot ? line.scratch : undefined;
      else if ("end" in line) {
        const entries = open.get(line.end) ?? [];
        open.delete(line.end);
        if (line.end < tasks && entries.length === line.keys) yield { task: line.end, entries };
      } else if ("key" in line) {
        if (line.task === undefined) yield { entries: [line] };
        else if (open.get(line.task)?.push(line) === undefined) open.set(line.task, [line]);
      }
    }
  };
  const check = async ({ task, entries }: Claim, context: StoreOptions) => {
    for (const entry of entries) if (!(await holds(entry, context))) return;
    if (task === undefined) for (const entry of entries) done.values.add(valueText(entry));
    else if (!done.tasks.has(task)) {
      done.tasks.add(task);
      written.keys += entries.length;
      for (const { size } of entries) written.bytes += size;
    }
  };
  await forEachConcurrent(claims(), check, { concurrency, signal });
  return { ...done, written, scratch };
}
