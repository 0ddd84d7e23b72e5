import { lstat, mkdir, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { syncFolder } from "../stores/directory/value-file.ts";
import { DirectoryStore } from "../stores/directory.ts";
import { asyncFileCalls } from "../stores/files/file-calls.ts";
import { fileError, isMissing } from "../stores/files/file-error.ts";
import type { LockOptions, PublishOptions, StoreSpec, TargetBuild } from "../stores/store.ts";
import { throwIfAborted } from "../util/abort.ts";
import { ZarrflowError } from "../util/errors.ts";
import { type Medium, targetBuild } from "./build.ts";
import { hasRecordedValue } from "./contents.ts";
import { ControlFolder, isThere, removeTemporaryFiles } from "./control-folder.ts";
import { FileJournal } from "./file-journal.ts";
import type {
  ConstructionOptions,
  JointRun,
  ResumeOptions,
  TargetBuildOptions,
  TargetPlace,
  TargetPlaceOptions,
} from "./options.ts";

type FileSpec = Extract<StoreSpec, { readonly path: string }>;

/** Returns the place where a directory or a zip is built. */
export function filePlace(spec: FileSpec): TargetPlace {
  return {
    check: (options) =>
      namingStore(spec, async () =>
        assertPlaceFree(spec, await realpathIfThere(resolve(spec.path)), options),
      ),
    open: (options) => openFileBuild(spec, options),
  };
}

/**
 * Builds a directory or a zip in a control folder beside its final path. Symbolic links on the way are followed.
 *
 * @throws `target-exists`, `invalid-option`, `access-denied`, `no-space`, `too-many-files`.
 */
async function openFileBuild(spec: FileSpec, options: TargetBuildOptions): Promise<TargetBuild> {
  const attempt = <T>(step: () => Promise<T>) => namingStore(spec, step);
  return attempt(async () => {
    const target = await realpathIfThere(resolve(spec.path));
    const assertFree = async () => {
      // a folder that cannot be removed does no harm
      for (const control of await ControlFolder.all(target)) await control.recover().catch(() => {});
      await assertPlaceFree(spec, target, options);
    };
    if (options.joint && spec.kind === "directory")
      return openJoint(spec, target, { ...options, joint: options.joint, assertFree });
    await assertFree();

    const { resumed, others } = await unfinishedAt(target, options);
    const control = await (resumed?.control.takeOver(options) ?? ControlFolder.create(target, options));
    const remove = () => control.remove();
    await options.onTaken?.().catch(after(remove));
    const construct = async () => {
      if (resumed) await control.assertNoLink();
      return constructionOf(spec, control.build, { ...options, resumed: resumed?.how });
    };
    const construction = await construct().catch(after(resumed ? () => control.leave() : remove));
    const medium: Medium = {
      ...construction,
      controlFolder: control.path,
      async publish(how) {
        await publishFolder(control, target, options, how);
        for (const other of others) await other.remove().catch(() => {});
      },
      discard: () => construction.discard().catch(after(remove)),
      abandon: construction.discard,
    };
    const build = targetBuild(medium, { claim: control, journal: new FileJournal(control.ledger, options) });
    const { keep } = build;
    return {
      ...build,
      publish: (how) => attempt(() => build.publish(how)),
      ...(keep && { keep: () => attempt(keep) }),
      discard: () => attempt(build.discard),
    };
  });
}

/** Moves the build to its place. */
async function publishFolder(
  control: ControlFolder,
  target: string,
  options: TargetBuildOptions,
  { signal }: PublishOptions,
): Promise<void> {
  throwIfAborted(signal);
  if (options.ifExists === "replace" && (await isThere(target))) {
    await assertUnlockedFolder(target, options);
    await control.replace();
  } else await control.publish();
  if (options.fsync) await syncFolder(asyncFileCalls, dirname(target));
}

async function openJoint(
  spec: Extract<StoreSpec, { readonly kind: "directory" }>,
  target: string,
  {
    assertFree,
    ...options
  }: TargetBuildOptions & { readonly joint: JointRun; readonly assertFree: () => Promise<void> },
): Promise<TargetBuild> {
  const { openJointFolder } = await import("./joint/file-build.ts");
  return openJointFolder(spec, target, options, {
    assertFree,
    publish: (control, how) => publishFolder(control, target, options, how),
  });
}

/** Unfinished builds of ended runs at a place. */
interface UnfinishedAt {
  /** The build that is resumed. */
  readonly resumed?: { readonly control: ControlFolder; readonly how: ResumeOptions } | undefined;
  readonly others: readonly ControlFolder[];
}

async function unfinishedAt(
  target: string,
  { resume, onUnfinished, breakLock }: TargetBuildOptions,
): Promise<UnfinishedAt> {
  const others: ControlFolder[] = [];
  let resumed: UnfinishedAt["resumed"];
  for (const control of await ControlFolder.all(target)) {
    if (!(await control.isUnfinished())) continue;
    if (!control.isDead && !breakLock) {
      if (resume) throw stillAtWork(control, target);
      continue;
    }
    const found = { description: control.path, journal: new FileJournal(control.ledger) };
    const how = resumed ? undefined : await resume?.(found);
    if (how) resumed = { control, how };
    else {
      onUnfinished?.(found);
      others.push(control);
    }
  }
  return { resumed, others };
}

function stillAtWork({ path }: ControlFolder, target: string): ZarrflowError {
  return new ZarrflowError("locked", "the run to be resumed may still be active", {
    store: `directory ${target}`,
    found: path,
    hint: "Wait for it. If that run is dead, use --break-lock, or wait until 15 minutes have passed since it last renewed its lock.",
  });
}

/** Starts the new target in a control folder, or continues it. */
async function constructionOf(spec: FileSpec, build: string, options: ConstructionOptions): Promise<Medium> {
  const { kind } = spec;
  const description = descriptionOf(spec);
  // The modules for zips take longer to load than all modules that a directory needs.
  if (kind === "zip") return (await import("./zip-file.ts")).constructZip(build, description, options);
  return constructFolder(build, description, options);
}

async function constructFolder(
  build: string,
  description: string,
  { resumed, fsync = false }: ConstructionOptions,
): Promise<Medium> {
  if (resumed) await removeTemporaryFiles(build);
  else await mkdir(build);
  const store = new DirectoryStore(build, { exclusive: true, fsync, description });
  return {
    store,
    spec: { kind: "directory", path: build, ...(fsync && { fsync }) },
    ...(resumed && {
      hasValue: (value, options) => hasRecordedValue(store, value, { ...resumed, ...options }),
    }),
    keep: async () => undefined,
    discard: async () => {},
  };
}

/** @throws `locked` while a run writes to an existing folder or anywhere inside it. */
async function assertUnlockedFolder(path: string, options: LockOptions): Promise<void> {
  const { assertNoneInside, assertUnlocked } = await import("./store-lock.ts");
  const store = new DirectoryStore(path);
  await assertUnlocked(store, options);
  await assertNoneInside(store, options);
}

/** Rejects early a place at which publishing would fail. */
async function assertPlaceFree(
  { kind }: FileSpec,
  target: string,
  { ifExists, breakLock, signal }: TargetPlaceOptions,
): Promise<void> {
  if (basename(target) === "") {
    throw new ZarrflowError("invalid-option", "the root folder cannot be a target", { value: target });
  }
  if (!(await isThere(target))) return;
  const isFolder = (await lstat(target)).isDirectory();
  if (isFolder) await assertUnlockedFolder(target, { breakLock, signal });
  const isEmpty = isFolder && kind === "directory" && (await readdir(target)).length === 0;
  if (ifExists === "error" && !isEmpty) {
    throw new ZarrflowError("target-exists", `${target} exists`, {
      hint: 'Replace it with ifExists: "replace" (--if-exists replace), or choose another target.',
    });
  }
  if (isFolder && (await stat(target)).dev !== (await stat(dirname(target))).dev) {
    throw new ZarrflowError("invalid-option", "a mount point cannot be replaced by a new folder", {
      value: target,
      hint: `Use a folder inside it: ${target}/NAME.`,
    });
  }
}

/** Adds the store to errors of a step. */
async function namingStore<T>(spec: FileSpec, step: () => Promise<T>): Promise<T> {
  const details = { store: descriptionOf(spec) };
  try {
    return await step();
  } catch (error) {
    if (error instanceof ZarrflowError) throw error.addContext(details);
    throw fileError(error, details);
  }
}

function descriptionOf({ kind, path }: FileSpec): string {
  return `${kind} ${path}`;
}

async function realpathIfThere(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isMissing(error)) return path;
    throw error;
  }
}

/** Runs `undo` after a failure and then throws that failure. */
function after(undo: () => Promise<void>): (error: unknown) => Promise<never> {
  return async (error) => {
    await undo();
    throw error;
  };
}
