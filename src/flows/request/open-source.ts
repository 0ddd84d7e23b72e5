import { throughStore, type ZarrArray, type ZarrGroup } from "../../hierarchy/node.ts";
import { closeOpened, isOpenNode, type OpenSource, openWith } from "../../hierarchy/open/open.ts";
import { isNotKnown, type NodeKind } from "../../hierarchy/open/open-node.ts";
import type { SourceOptions } from "../../hierarchy/read-options.ts";
import { FORMAT_OPTIONS } from "../../meta/detect.ts";
import { STORE_ACCESS } from "../../stores/access.ts";
import { assertPlace, textOfUrl } from "../../stores/assertions.ts";
import type { Store } from "../../stores/store.ts";
import { specOf } from "../../stores/url.ts";
import { isZarrflowError, type ZarrflowError } from "../../util/errors.ts";
import { pickOptions } from "../../util/options.ts";
import { limitConcurrency, openWithin, pacedAccess, withPace } from "./store-settings.ts";

/** An open source. */
export interface OpenedSource {
  readonly root: ZarrArray | ZarrGroup;
  /** The store to read from, with the requested rate limits. */
  readonly store: Store;
  /** Closes the store if it was opened for this source. */
  readonly close: () => Promise<void>;
  /** True if the source is a place with keys, but without a node; `root` is then a group without documents. */
  readonly isPlain?: boolean;
  /** The reason why a node and everything below it are treated as plain keys: it has an unsupported feature. */
  readonly notKnown?: ZarrflowError | undefined;
}

/**
 * Opens the source: a node, or optionally a place with keys only. Until it is closed, requests in flight are
 * limited as the options state.
 */
export async function openSource(
  source: OpenSource,
  options: SourceOptions,
  how: HowToOpen = {},
): Promise<OpenedSource> {
  assertPlace(source, "source");
  return openWithin(limitConcurrency(options), () => openRoot(textOfUrl(source), options, how));
}

interface HowToOpen {
  /** True if the source may be a place with keys only. */
  readonly mayBePlain?: boolean;
  /** Expected kind of node; documents of other formats are then not looked for. */
  readonly kind?: NodeKind;
}

async function openRoot(
  source: Exclude<OpenSource, URL>,
  options: SourceOptions,
  { mayBePlain = false, kind }: HowToOpen,
): Promise<OpenedSource> {
  if (isOpenNode(source)) {
    const root = throughStore(source, withPace(source.store, options, undefined));
    return { root, store: root.store, close: async () => {} };
  }
  const wrap = (store: Store) => withPace(store, options, specOf(store));
  const access = { ...pickOptions(options, STORE_ACCESS), ...pacedAccess(options) };
  const opening = { ...access, signal: options.signal, wrap };
  const how = kind ? { kind } : { looksBeside: true };
  try {
    const root = await openWith(source, { ...opening, ...pickOptions(options, FORMAT_OPTIONS) }, how);
    const { store } = root;
    return { root, store, close: () => closeOpened(source, store) };
  } catch (error) {
    if (!mayBePlain || !isZarrflowError(error)) throw error;
    const notKnown = isNotKnown(error) ? error : undefined;
    if (notKnown === undefined && error.code !== "not-found") throw error;
    const { openKeyPrefix } = await import("../../hierarchy/open/open-key-prefix.ts");
    const root = await openKeyPrefix(source, opening);
    if (root === undefined) throw error;
    return { root, store: root.store, close: () => closeOpened(source, root.store), isPlain: true, notKnown };
  }
}
