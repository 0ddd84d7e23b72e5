import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { LockOptions } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";
import { ControlFolder } from "./control-folder.ts";

/** Checks that no other run is building a target for a folder. @throws `locked` */
export async function assertFolderNotBuilt(path: string, { breakLock = false }: LockOptions): Promise<void> {
  if (breakLock) return;
  const target = await realpath(resolve(path)).catch(() => resolve(path));
  const control = (await ControlFolder.all(target)).find(({ isDead }) => !isDead);
  if (control === undefined) return;
  throw new ZarrflowError("locked", "another run is writing the hierarchy around the target", {
    store: `directory ${target}`,
    found: control.path,
    hint: "Wait for it. If that run is dead, use --break-lock, or wait until 15 minutes have passed since its last renewal.",
  });
}
