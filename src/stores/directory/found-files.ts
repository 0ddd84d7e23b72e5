import { constants } from "node:fs";
import type { ByteRange } from "../../util/byte-range.ts";
import type { FileCalls } from "../file-calls.ts";
import { hasSystemCode, isMissing } from "../file-error.ts";
import { folderOf } from "../key.ts";
import { readFileAtOnce, readRangeAtOnce } from "./file-at-once.ts";
import type { Folders } from "./folders.ts";

/** Makes `open` fail on a symbolic link; absent on Windows, where every path is resolved first. */
const NO_LINK: number | undefined = constants.O_NOFOLLOW;
/** Does not wait for the other end of a pipe. */
const READ = constants.O_RDONLY | (NO_LINK ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface FoundFilesOptions {
  readonly files: FileCalls;
  /** No symbolic links are looked for: nobody else writes below the root. */
  readonly exclusive: boolean;
}

/** The files at keys, none of which is reached through a symbolic link that leaves the root. */
export class FoundFiles {
  readonly #folders: Folders;
  readonly #files: FileCalls;
  readonly #exclusive: boolean;

  constructor(folders: Folders, { files, exclusive }: FoundFilesOptions) {
    this.#folders = folders;
    this.#files = files;
    this.#exclusive = exclusive;
  }

  /** Whether a file can be told to be no symbolic link without looking. */
  get canReadAtOnce(): boolean {
    return this.#exclusive || NO_LINK !== undefined;
  }

  /** Whether the folder of `key` is there, inside the root. */
  isReachable(key: string): boolean | Promise<boolean> {
    return this.#exclusive || this.#folders.has(folderOf(key));
  }

  /** The file at `key`, or at the end of a symbolic link there; undefined where there is none. */
  async find(key: string): Promise<{ readonly path: string; readonly size: number } | undefined> {
    try {
      if (!(await this.isReachable(key))) return undefined;
      let path = this.#folders.pathOf(key);
      let info = await this.#files.lstat(path);
      if (info.isSymbolicLink()) {
        path = await this.#folders.follow(key);
        info = await this.#files.lstat(path);
      }
      return info.isFile() ? { path, size: info.size } : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Opens what is at `key`, to be read; undefined where nothing is. */
  async open(key: string): Promise<number | undefined> {
    try {
      if (!(await this.isReachable(key))) return undefined;
      if (this.canReadAtOnce) {
        try {
          return await this.#files.open(this.#folders.pathOf(key), READ);
        } catch (error) {
          if (!hasSystemCode(error, "ELOOP", "EMLINK")) throw error;
        }
      }
      return await this.#files.open(await this.#folders.follow(key), READ);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Reads a small file whole, where its folder is known. */
  readAtOnce(key: string, into: Uint8Array): number | undefined {
    return this.#isKnown(key) ? readFileAtOnce(this.#folders.pathOf(key), READ, into) : undefined;
  }

  /**
   * Reads a range of a file by calls that block, where its folder is known: no bytes where there is no file.
   *
   * @returns undefined where that cannot be done
   */
  readRangeAtOnce(
    key: string,
    range: ByteRange | undefined,
    allocate: (byteLength: number) => Uint8Array,
  ): ReturnType<typeof readRangeAtOnce> {
    if (!this.#files.block || !this.canReadAtOnce || !this.#isKnown(key)) return undefined;
    return readRangeAtOnce(this.#folders.pathOf(key), READ, range, allocate);
  }

  #isKnown(key: string): boolean {
    return this.#exclusive || this.#folders.isKnown(folderOf(key));
  }
}
