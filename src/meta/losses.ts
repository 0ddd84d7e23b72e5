import { ZarrflowError } from "../util/errors.ts";

/** Collects the metadata of a node that a format cannot represent, to report all in one error. */
export class Losses {
  readonly #allowed: readonly string[];
  readonly #refused: { readonly pointer: string; readonly reason: string; readonly mayBeAllowed: boolean }[] =
    [];

  constructor(allowed: readonly string[] = []) {
    this.#allowed = allowed;
  }

  /** Records that the metadata at `pointer` would be lost; if the user allows this, they are omitted. */
  add(pointer: string, reason: string): void {
    const isAllowed = this.#allowed.some((one) => pointer === one || pointer.startsWith(`${one}/`));
    if (!isAllowed) this.#refused.push({ pointer, reason, mayBeAllowed: true });
  }

  /** Records that the data cannot be read without the metadata at `pointer`. */
  require(pointer: string, reason: string): void {
    this.#refused.push({ pointer, reason, mayBeAllowed: false });
  }

  /** @throws `loss-refused` unless all losses were allowed. */
  check(format: string, path: string): void {
    const [first] = this.#refused;
    if (first === undefined) return;
    const list = this.#refused.map(({ pointer, reason }) => `${pointer} (${reason})`).join(", ");
    throw new ZarrflowError("loss-refused", `${format} cannot represent ${list}`, {
      format,
      path,
      pointers: [...new Set(this.#refused.map(({ pointer }) => pointer))],
      hint: this.#refused.every(({ mayBeAllowed }) => mayBeAllowed)
        ? "List each pointer in `--allow-loss` (`allowLoss`), or choose a format that can represent it."
        : "The data cannot be read without it. Choose a format that can represent it or another codec, or exclude the array from the group (`--exclude`).",
    });
  }
}
