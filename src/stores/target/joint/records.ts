import { ZarrflowError } from "../../../util/errors.ts";
import type { Journal } from "../journal.ts";
import type { JointRecords, ShareName } from "../options.ts";

/**
 * What a joint run leaves of itself, each a file or a value:
 * - `run`, what the run is;
 * - `ledger-STAGE-INDEX-COUNT-RANDOM`, what a process has done of a share; no two processes write one;
 * - `ended-STAGE-INDEX-COUNT`, that a share is done.
 */
const NAME = /^(ledger|ended)-(\d{1,10})-(\d{1,10})-(\d{1,10})(?:-[0-9a-f]{12})?$/;

export const RUN_RECORD = "run";

/** A name for a ledger that no other process has. */
export function ledgerName(share: ShareName, random: string): string {
  return `ledger-${shareText(share)}-${random}`;
}

export function endedName(share: ShareName): string {
  return `ended-${shareText(share)}`;
}

function shareText({ stage, index, count }: ShareName): string {
  return `${stage}-${index}-${count}`;
}

/** What names of records say. @param open opens the ledger of a name */
export function jointRecords(
  names: readonly string[],
  boot: string | undefined,
  open: (name: string) => AsyncIterable<string>,
): JointRecords {
  const found = names.flatMap((name) => {
    const [, kind, ...numbers] = NAME.exec(name) ?? [];
    const [stage = 0, index = 0, count = 0] = numbers.map(Number);
    return kind === undefined || index >= count ? [] : { name, kind, share: { stage, index, count } };
  });
  return {
    ended: found.flatMap(({ kind, share }) => (kind === "ended" ? share : [])),
    journal: (isWanted = () => true) => ({
      boot,
      async *lines() {
        for (const { kind, name, share } of found)
          if (kind === "ledger" && isWanted(share)) yield* open(name);
      },
    }),
  };
}

/** A journal of a process's own, which is read after those of others. */
export function joinedJournal(others: Pick<Journal, "lines">, own: Journal): Journal {
  return {
    description: own.description,
    boot: own.boot,
    ...(own.isDurable !== undefined && { isDurable: own.isDurable }),
    async *lines() {
      yield* others.lines();
      yield* own.lines();
    },
    append: (line) => own.append(line),
    flush: () => own.flush(),
    close: () => own.close(),
  };
}

/** That the work of a joint run is no longer where this process had it. */
export function jointRunGone(store: string): ZarrflowError {
  return new ZarrflowError("locked", "the run that this process has a share of was finished or removed", {
    store,
    hint: "Nothing needs to be done if the target is there. Else start again with a new plan.",
  });
}

export function jointRunClosed(store: string): ZarrflowError {
  return new ZarrflowError("locked", "the run is being finished", {
    store,
    hint: "Wait for `zarrflow finish`. If it was killed, run it again.",
  });
}

/** That no run of the plan is at work, and the target is there: most likely, the plan is finished. */
export function targetIsThere(store: string): ZarrflowError {
  return new ZarrflowError("target-exists", "the target exists, and no run of this plan is at work there", {
    store,
    hint: "If the target is the result of this plan, the plan is finished, and nothing needs to be done. Else choose another target, or remove this one before the jobs start.",
  });
}

/** That there is nothing of a run that is to be finished. */
export function notBegun(store: string): ZarrflowError {
  return new ZarrflowError("not-found", "no process of this plan has left any work at the target", {
    store,
    hint: "Run `zarrflow run` first. If the target is there, the plan was finished before.",
  });
}
