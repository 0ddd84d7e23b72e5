import { throughStore, type ZarrArray, type ZarrGroup } from "../../hierarchy/node.ts";
import { closeOpened, isNode, type OpenSource, openWith } from "../../hierarchy/open/open.ts";
import { isNotKnown, type NodeKind } from "../../hierarchy/open/open-node.ts";
import type { SourceOptions } from "../../hierarchy/read-options.ts";
import { FORMAT_OPTIONS } from "../../meta/format-on-use.ts";
import { STORE_ACCESS } from "../../stores/access.ts";
import { assertPlace, textOfUrl } from "../../stores/assertions.ts";
import type { Store } from "../../stores/store.ts";
import { specOf } from "../../stores/url.ts";
import { pickOptions } from "../../util/check-options.ts";
import { isZarrflowError, type ZarrflowError } from "../../util/errors.ts";
import { pacedAccess, withPace } from "./rate-limits.ts";
import { limitConcurrency, openWithin } from "./usual-concurrency.ts";

/** A source that is open. */
export interface OpenedSource {
  readonly root: ZarrArray | ZarrGroup;
  /** What to read it from, within the rates that were asked for. */
  readonly store: Store;
  /** Closes the store where it was opened for this source. */
  readonly close: () => Promise<void>;
  /** Whether it is no node, but keys that are below a place: `root` is a group without documents then. */
  readonly isPlain?: boolean;
  /** Why the node that it is, with all below it, is taken for such keys: something about it is not known here. */
  readonly notKnown?: ZarrflowError | undefined;
}

/**
 * The node that a source is or names; perhaps a place with no node but keys. Until it is closed there are no more requests
 * in flight than the options state.
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
  /** Whether the source may be keys that are no node. */
  readonly mayBePlain?: boolean;
  /** What it must be, where nothing but that is looked for: no documents of other formats. */
  readonly kind?: NodeKind;
}

async function openRoot(
  source: Exclude<OpenSource, URL>,
  options: SourceOptions,
  { mayBePlain = false, kind }: HowToOpen,
): Promise<OpenedSource> {
  if (isNode(source)) {
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
    if (!mayBePlain || typeof source !== "string" || !isZarrflowError(error)) throw error;
    const notKnown = isNotKnown(error) ? error : undefined;
    if (notKnown === undefined && error.code !== "not-found") throw error;
    const { openKeyPrefix } = await import("./open-key-prefix.ts");
    const root = await openKeyPrefix(source, opening);
    if (root === undefined) throw error;
    return { root, store: root.store, close: () => closeOpened(source, root.store), isPlain: true, notKnown };
  }
}
