import { lstat, mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { removeFolder } from "../../stores/directory/directory-tree.ts";
import { jointRecord, OWNER_NAME, renewOwner, touchOwner } from "../../stores/directory/owner-record.ts";
import { DirectoryStore } from "../../stores/directory.ts";
import { hasSystemCode, isMissing } from "../../stores/files/file-error.ts";
import { processTag, thisProcess } from "../../stores/files/process-record.node.ts";
import { controlName, randomName } from "../../stores/reserved-names.ts";
import type { PublishOptions, StoreSpec, TargetBuild } from "../../stores/store.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { type Claim, type Medium, targetBuild } from "../build.ts";
import { hasRecordedValue } from "../contents.ts";
import { ControlFolder, isThere, removeTemporaryFiles } from "../control-folder.ts";
import { FileJournal } from "../file-journal.ts";
import { joinedJournal } from "../journal.ts";
import type { JointRun, TargetBuildOptions } from "../options.ts";
import {
  endedName,
  jointRecords,
  jointRunClosed,
  jointRunGone,
  ledgerName,
  notBegun,
  RUN_RECORD,
  sharedClaim,
  targetIsThere,
} from "./records.ts";

type Options = TargetBuildOptions & { readonly joint: JointRun };

/** Steps that every build of a folder takes at its place. */
export interface PlaceSteps {
  /** @throws if the place is not free for a new target */
  readonly assertFree: () => Promise<void>;
  /** Moves a build to the place. */
  readonly publish: (control: ControlFolder, options: PublishOptions) => Promise<void>;
}

/** Names of the folder of a run beside its target: one while processes work in it, one after the run is closed. */
function foldersOf(target: string, id: string): { readonly open: string; readonly closed: string } {
  const open = join(dirname(target), `.${basename(target)}.zarrflow-${id.slice(-12)}`);
  return { open, closed: `${open}-closed` };
}

/**
 * Takes part in building a directory, in a folder beside it that all processes of a run share. The process that
 * finishes the run renames that folder first, so that late processes can no longer write to it.
 */
export async function openJointFolder(
  { path, fsync }: Extract<StoreSpec, { readonly kind: "directory" }>,
  target: string,
  options: Options,
  place: PlaceSteps,
): Promise<TargetBuild> {
  const { joint } = options;
  const folders = foldersOf(target, joint.id);
  const description = `directory ${path}`;
  const isDurable = fsync || options.fsync;
  const begin = async () => {
    if (await isThere(folders.closed)) throw jointRunClosed(description);
    if (!(await isThere(folders.open))) {
      await place.assertFree().catch((error: unknown) => {
        throw isZarrflowError(error, "target-exists") ? targetIsThere(description) : error;
      });
      await mkdir(dirname(target), { recursive: true });
      await beginRun(target, folders.open, joint);
    }
    return folders.open;
  };
  const close = async () => {
    if (!(await isThere(folders.closed))) {
      if (!(await isThere(folders.open))) throw notBegun(description);
      await assertSame(folders.open, joint);
      await joint.assertReady(await recordsIn(folders.open));
      await rename(folders.open, folders.closed);
    }
    await removeTemporaryFiles(join(folders.closed, "build"));
    return folders.closed;
  };
  const { share } = joint;
  const folder = await (share ? begin() : close());
  await assertSame(folder, joint);
  const records = await recordsIn(folder);
  if (share) await joint.assertReady(records);
  await options.onTaken?.();
  const own = share ? ledgerName(share, randomName()) : RUN_RECORD;
  const ledger = new FileJournal(join(folder, ledgerFile(own)), { fsync: isDurable ?? false });
  const build = join(folder, "build");
  const store = new DirectoryStore(build, { shared: true, fsync: isDurable ?? false, description });
  const common = {
    store,
    spec: { kind: "directory", path: build, shared: true, ...(isDurable && { fsync: true }) },
    controlFolder: folder,
    hasValue: (value, how) => hasRecordedValue(store, value, { readBack: false, ...how }),
  } satisfies Partial<Medium>;
  const journal = joinedJournal(records.journal(joint.isOfInterest), ledger);
  if (share) {
    const { lost, end } = renewed(folder, description);
    const medium: Medium = {
      ...common,
      publish: () => writeFile(join(folder, endedName(share)), ""),
      keep: async () => undefined,
      discard: async () => {},
    };
    return targetBuild(medium, { claim: sharedClaim(lost, async () => end()), journal });
  }
  const control = ControlFolder.of(folder, target, joint.id);
  const medium: Medium = {
    ...common,
    publish: (how) => place.publish(control, how),
    async keep() {
      await rename(folder, folders.open);
    },
    discard: async () => {},
  };
  const claim: Claim = {
    ...sharedClaim(undefined, async () => {}),
    release: () => control.remove(),
    notReleased: (error) => control.notReleased(error),
  };
  return targetBuild(medium, { claim, journal });
}

/** Completes the folder of a run before it gets its name. If several processes try at once, one succeeds. */
async function beginRun(target: string, folder: string, { id, header }: JointRun): Promise<void> {
  const making = join(dirname(target), controlName(basename(target), processTag()));
  await mkdir(making);
  try {
    await writeFile(join(making, OWNER_NAME), jointRecord(id));
    await mkdir(join(making, "build"));
    await writeFile(join(making, ledgerFile(RUN_RECORD)), `${header}\n`);
    await rename(making, folder);
  } catch (error) {
    await removeFolder(making).catch(() => {});
    if (!hasSystemCode(error, "EEXIST", "ENOTEMPTY", "EPERM") || !(await isThere(folder))) throw error;
  }
}

/**
 * The run's record has the file name of any run's ledger, so that other runs recognize unfinished work. They cannot
 * resume it.
 */
function ledgerFile(name: string): string {
  return name === RUN_RECORD ? "ledger.jsonl" : `${name}.jsonl`;
}

async function assertSame(folder: string, { assertHeader }: JointRun): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) throw jointRunGone(`directory ${folder}`);
  const [first = ""] = (await readFile(join(folder, ledgerFile(RUN_RECORD)), "utf8")).split("\n", 1);
  assertHeader(first);
}

async function recordsIn(folder: string): Promise<ReturnType<typeof jointRecords>> {
  const names = (await readdir(folder)).map((name) => name.replace(/\.jsonl$/, "")).sort();
  return jointRecords(names, thisProcess().boot, (name) =>
    new FileJournal(join(folder, ledgerFile(name))).lines(),
  );
}

/** Renews the run's record for others to see, and notices when its folder is gone. */
function renewed(
  folder: string,
  description: string,
): { readonly lost: AbortSignal; readonly end: () => void } {
  const lost = new AbortController();
  const onGone = () => lost.abort(jointRunGone(description));
  const lookIfGone = async () => {
    if (await stat(folder).then(() => false, isMissing)) onGone();
  };
  touchOwner(folder).catch(lookIfGone);
  const endRenewal = renewOwner(folder, onGone);
  const look = setInterval(lookIfGone, LOOK_AFTER);
  look.unref();
  const end = () => {
    endRenewal();
    clearInterval(look);
  };
  return { lost: lost.signal, end };
}

/** Milliseconds between checks that the folder still exists. */
const LOOK_AFTER = 1000;
