import { checksumOf, planFileOf, type WrittenPlanFile } from "../../../src/flows/jobs/plan-file.ts";
import type { PlannedFlow } from "../../../src/flows/request/flow.ts";

export const ENCODERS = { zarrflow: "1", zlib: "1" };

/** What was planned, as the text of a file; closes it. */
export async function textOf(planned: Promise<PlannedFlow>): Promise<string> {
  const open = await planned;
  try {
    return JSON.stringify(planFileOf(open, { encoders: ENCODERS }), undefined, 1);
  } finally {
    await open.close();
  }
}

/** A plan that somebody has changed, and given the checksum of what it says now. */
export function withChecksum(text: string): string {
  const { checksum: _, ...file } = JSON.parse(text) as WrittenPlanFile & { readonly checksum: string };
  return JSON.stringify({ ...file, checksum: checksumOf(file as WrittenPlanFile) });
}

/** The same, with a value in place of the one at a JSON path. */
export function changed(text: string, path: readonly (string | number)[], value: unknown): string {
  const file = JSON.parse(text);
  const last = path.at(-1) ?? "";
  let at = file;
  for (const name of path.slice(0, -1)) at = at[name];
  if (value === undefined) delete at[last];
  else at[last] = value;
  return withChecksum(JSON.stringify(file));
}
