import { isDocumentKey } from "../../hierarchy/edit/delete.ts";
import { outerPrefixes } from "../../meta/folder-layout.ts";
import type { Documents } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { assertListable } from "../../stores/assertions.ts";
import type { Store, WritableStore } from "../../stores/store.ts";
import { writerMemory } from "../../stores/store-memory.ts";
import type { Plan } from "../plan/plan.ts";
import { type CopyKeysOptions, copyKeys } from "./copy-keys.ts";
import { folderCheck, keysToCopy } from "./keys-to-copy.ts";
import { ListedChunks } from "./listed-chunks.ts";

export interface CopyAllOptions
  extends Omit<CopyKeysOptions, "prefix" | "listing" | "targetKeyOf" | "onFolder" | "io" | "writerBytes"> {
  /** The documents that are published, and so not copied. */
  readonly documents: Documents;
  /** Whether documents among the keys, which are none of the hierarchy's, are copied when all others are. */
  readonly documentsLast: boolean;
}

/** Copies all keys that a plan copies as they are. */
export async function copyAllKeys(
  source: Store,
  target: WritableStore,
  plan: Plan,
  { documents, documentsLast, ...options }: CopyAllOptions,
): Promise<void> {
  const from = assertListable(source);
  const layout = formatNamed(plan.publication.zarrFormat).layout(plan.target.path);
  const isLate = (key: string) => documentsLast && isDocumentKey(key, layout);
  const listed = new ListedChunks();
  const turn = async (late: boolean) => {
    let areLeft = false;
    const targetKeyOf = keysToCopy(plan, documents, late ? undefined : listed.count);
    const targetKeyNow = (key: string) => {
      const targetKey = targetKeyOf(key);
      const isNow = targetKey !== undefined && isLate(targetKey) === late;
      areLeft ||= targetKey !== undefined && !isNow;
      return isNow ? targetKey : undefined;
    };
    const writerBytes = writerMemory(plan.target.store);
    const copying = {
      ...options,
      targetKeyOf: targetKeyNow,
      onFolder: folderCheck(plan),
      io: plan.execution.io,
      writerBytes,
    };
    for (const prefix of outerPrefixes(formatNamed(plan.publication.from).layout(plan.source.path))) {
      await copyKeys(from, target, { ...copying, prefix });
    }
    return areLeft;
  };
  const areLate = await turn(false);
  listed.noteMissing(source, plan.jobs);
  if (areLate) await turn(true);
}
