import type { Journal } from "../../../stores/target/journal.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import type { PlanPace, StoreProfiles } from "../../plan/store-profile.ts";
import type { Settings } from "../../request/settings.ts";
import {
  LEDGER_FORMAT,
  type LedgerSession,
  ledgerFormat,
  parseLedgerLine,
  type RunIdentity,
} from "./ledger-lines.ts";

/** Description of an unfinished run, read from its ledger alone. */
export interface UnfinishedRun {
  readonly begun: string;
  readonly identity: RunIdentity;
  /** Network performance that its plan assumed of its stores. */
  readonly profiles?: StoreProfiles;
  readonly pace?: PlanPace;
  readonly settings?: Settings;
  /** Number of tasks that ended, over all sessions. */
  readonly tasks: number;
  /** True if unsynced writes may be lost, because the machine has rebooted since or may have. */
  readonly mayBeLost: boolean;
}

/**
 * Reads the description of an unfinished run; undefined if its ledger has none.
 *
 * @throws `plan-mismatch` for a ledger of another version.
 */
export async function unfinishedRun(
  journal: Pick<Journal, "lines" | "boot">,
  place: string,
): Promise<UnfinishedRun | undefined> {
  const { boot } = journal;
  let header: Pick<UnfinishedRun, "begun" | "identity" | "profiles" | "pace" | "settings"> | undefined;
  let tasks = 0;
  let mayBeLost = false;
  for await (const text of journal.lines()) {
    const line = parseLedgerLine(text);
    if (header === undefined) {
      assertFormat(text, place);
      if (line === undefined || !("identity" in line)) return undefined;
      header = line;
    } else if (line && "session" in line) mayBeLost ||= isLossy(line.session, boot);
    else if (line && "end" in line) tasks++;
  }
  return header && { ...header, tasks, mayBeLost };
}

function assertFormat(text: string, place: string): void {
  const found = ledgerFormat(text);
  if (found === undefined || found === LEDGER_FORMAT) return;
  throw new ZarrflowError("plan-mismatch", "another version of zarrflow made the unfinished run", {
    store: place,
    expected: LEDGER_FORMAT,
    found,
    hint: "Continue it with that version, or start again without --resume.",
  });
}

function isLossy({ fsync, boot }: LedgerSession["session"], now: string | undefined): boolean {
  return fsync !== true && (now === undefined || boot !== now);
}
