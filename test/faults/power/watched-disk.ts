import type { Disk } from "./disk.ts";

/** The disk whose folder is written just now, and what is called after each call that changed it. */
export const watched: { disk: Disk | undefined; onChange: () => void } = { disk: undefined, onChange() {} };

type Call = (...args: unknown[]) => unknown;

/** What a call has done, by its name without `Sync`, given what it was given and what it returned. */
const CHANGES: Readonly<Record<string, (disk: Disk, args: readonly unknown[], result: unknown) => void>> = {
  open: (disk, [path], fd) => {
    if (disk.has(path) && typeof fd === "number") disk.opened(path, fd);
  },
  close: (disk, [fd]) => disk.closed(Number(fd)),
  fsync: (disk, [fd]) => disk.synced(Number(fd)),
  fdatasync: (disk, [fd]) => disk.synced(Number(fd)),
  write: () => {},
  ftruncate: () => {},
  mkdir: (disk, [path]) => disk.madeFolder(String(path)),
  writeFile: (disk, [path]) => disk.madeFile(String(path)),
  copyFile: (disk, [, path]) => disk.madeFile(String(path)),
  link: (disk, [from, to]) => disk.linked(String(from), String(to)),
  rename: (disk, [from, to]) => {
    disk.linked(String(from), String(to));
    disk.removed(String(from));
  },
  unlink: (disk, [path]) => disk.removed(String(path)),
  rmdir: (disk, [path]) => disk.removed(String(path)),
  rm: (disk, [path]) => disk.removed(String(path)),
};

/** A module of file calls that the watched disk follows. */
export function withDisk<M extends object>(module: M): M {
  const followed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(module)) {
    const change = CHANGES[name.replace(/Sync$/, "")];
    followed[name] = change && typeof value === "function" ? followCall(value as Call, change) : value;
  }
  if ("promises" in module) followed.promises = withDisk(module.promises as object);
  followed.default = followed;
  return followed as M;
}

function followCall(call: Call, change: (typeof CHANGES)[string]): Call {
  const around: Call = (...args) => {
    const { disk } = watched;
    const isOnDisk =
      disk && args.some((arg) => disk.has(arg) || (typeof arg === "number" && disk.isOpen(arg)));
    if (!isOnDisk) return call(...args);
    const done = (result: unknown) => {
      change(disk, args, result);
      watched.onChange();
    };
    const last = args.at(-1);
    if (typeof last === "function") {
      const after = (error: unknown, ...results: unknown[]) => {
        if (!error) done(results[0]);
        last(error, ...results);
      };
      return call(...args.slice(0, -1), after);
    }
    const result = call(...args);
    if (result instanceof Promise) {
      return result.then((value) => {
        done(value);
        return value;
      });
    }
    done(result);
    return result;
  };
  return Object.defineProperties(around, Object.getOwnPropertyDescriptors(call));
}
