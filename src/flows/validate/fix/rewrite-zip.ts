import type { ListableStore, StoreSpec } from "../../../stores/store.ts";
import { openTargetBuild } from "../../../stores/target.ts";
import { plainBuffers } from "../../../util/buffers.ts";
import { copyValue } from "../../keys/copy-value.ts";
import { pieceBytesWithin } from "../../keys/read-pieces.ts";

/**
 * Rewrites a zip with each key once and some values changed or left out, and replaces the old zip when the new one is
 * complete. Values are not deflated.
 *
 * @throws `source-changed` if the zip is overwritten meanwhile.
 */
export async function rewriteZip(
  zip: ListableStore,
  spec: StoreSpec,
  changes: ReadonlyMap<string, Uint8Array | undefined>,
  { maxMemory, signal }: { readonly maxMemory: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const build = await openTargetBuild(spec, { ifExists: "replace", comment: zip.comment, signal });
  try {
    const pieceBytes = pieceBytesWithin(maxMemory / 2);
    for await (const { key, size = 0 } of zip.list("", { asStored: true, signal })) {
      const value = changes.get(key);
      if (value) await build.store.set(key, value, { signal });
      if (changes.has(key)) continue;
      const options = { size, pieceBytes, buffers: plainBuffers, onPiece: () => {}, signal };
      await copyValue({ store: zip, key }, { store: build.store, key }, options);
    }
    await zip.version?.({ signal });
    await build.publish({ signal });
  } catch (error) {
    await build.discard();
    throw error;
  }
}
