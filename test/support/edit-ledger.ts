import { checkedLine } from "../../src/targets/journal.ts";

/** A ledger whose lines are others, as its writer would have written them. */
export function editLedger(text: string, edit: (line: string) => string): string {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => checkedLine(edit(line.slice(0, -9)))).join("");
}

/** The ledger of a run before the last start of its machine. */
export function ofEarlierStart(text: string): string {
  return editLedger(text, (line) => line.replace(/"boot":"[^"]+"/, '"boot":"another start"'));
}
