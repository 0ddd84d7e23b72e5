import type { GridStrategy } from "../hierarchy/read-options.ts";
import type { ArrayMetadata, NodeMetadata, ZarrFormat } from "../meta/array-metadata.ts";
import type { FormatDefinition, NodeLayout } from "../meta/format.ts";
import type { FormatOptions } from "../meta/formats.ts";
import type { StoreSpec } from "../stores/store.ts";
import type { Selection } from "../streams/selection.ts";
import type { JsonObject } from "../util/json-value.ts";
import { caseConflict } from "../util/node-path.ts";
import type { NodeSpec, NodeWarning, Plan, PlannedConversion, PlanPace, StoreProfiles } from "./plan.ts";
import type { MissingCount } from "./strategies.ts";

/** A node of the source as it was opened. */
export interface SourceNode {
  readonly path: string;
  readonly metadata: NodeMetadata;
  readonly layout: NodeLayout;
  /** Existing documents of the node, by key. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
  /** Options that its documents were read with. */
  readonly reading?: FormatOptions;
  /** Present if its documents exist only in consolidated metadata. */
  readonly consolidated?: ReadonlyMap<string, Uint8Array> | undefined;
}

/** An unsupported node. Its keys are copied unchanged, its documents together with those of other nodes. */
export interface CopiedNode {
  readonly path: string;
  /** Keys of its documents. */
  readonly documents: ReadonlySet<string>;
}

/** The nodes of a source, converted to the target's format. */
export interface NodesInFormat {
  /** New metadata by path in the source store. Nodes without an entry keep their metadata. */
  readonly metadata: ReadonlyMap<string, NodeMetadata>;
  readonly warnings: readonly NodeWarning[];
}

/** Description of an array whose values are converted as they are read. */
export interface ConvertedReading {
  readonly planned: PlannedConversion;
  /** The source array as it is read. */
  readonly metadata: ArrayMetadata;
  /** True if missing chunks are written out, because their converted fill value differs from the new fill value. */
  readonly isMissingWritten: boolean;
}

/** The change of an array: its new metadata and the selected part. */
export interface Change {
  readonly metadata: ArrayMetadata;
  readonly selection?: Selection;
  /** Present if values are converted. */
  readonly reading?: ConvertedReading;
}

/** The source nodes that also have documents of another format. */
export interface OtherFormat {
  readonly name: ZarrFormat;
  /**
   * Attributes in documents of this format, by path in the source; and the groups with consolidated metadata of
   * this format.
   */
  readonly nodes: ReadonlyMap<string, JsonObject>;
  readonly consolidated: ReadonlySet<string>;
}

export interface HierarchyPlanRequest extends PlanPace {
  readonly operation: Plan["operation"];
  readonly source: NodeSpec;
  readonly target: NodeSpec;
  /** The root first, then all nodes below it. */
  readonly nodes: readonly SourceNode[];
  /** Nodes that are copied without being decoded. */
  readonly copied?: readonly CopiedNode[];
  readonly zarrFormat: FormatDefinition;
  /** Metadata of the nodes, converted to the conventions of another format. */
  readonly converted?: NodesInFormat;
  /** Missing chunks of each array whose fill value changes, by path. */
  readonly missing?: ReadonlyMap<string, MissingCount>;
  /** Returns the change of an array; undefined if it stays the same. */
  readonly change: (path: string, metadata: ArrayMetadata) => Change | undefined;
  /** JSON pointers of information that the format may drop. */
  readonly allowLoss?: readonly string[];
  /** True if listed keys of the source that no task and no document covers are copied unchanged. */
  readonly copyKeys: boolean;
  /** True if any document changes. Otherwise consolidated metadata stay valid and are copied with the other keys. */
  readonly changed: boolean;
  /** Another format whose documents the target gets too, for nodes that have them in the source. */
  readonly keptFormat?: OtherFormat | undefined;
  /** Paths of source groups with consolidated metadata, which the target gets too. */
  readonly consolidated: readonly string[];
  /** Store of scratch objects, if any. */
  readonly scratch?: StoreSpec | undefined;
  /** Expected speed of the stores over a network. */
  readonly profiles?: StoreProfiles | undefined;
  /** Strategy for arrays whose grid changes; by default the cheapest. */
  readonly strategy?: GridStrategy | undefined;
}

/** Maps the path of a source node below the source's root to the path below the target's root. */
export function targetPath(path: string, sourceRoot: string, targetRoot: string): string {
  const below = path.slice(sourceRoot.length).replace(/^\//, "");
  return [targetRoot, below].filter(Boolean).join("/");
}

/** @throws `invalid-node-name` for siblings that the target's format does not distinguish. */
export function assertDistinctPaths(paths: readonly string[], zarrFormat: FormatDefinition): void {
  if (!zarrFormat.layout("").hierarchy.ignoresCase) return;
  const seen = new Map<string, string>();
  for (const path of paths) {
    const other = seen.get(path.toLowerCase());
    if (other !== undefined) throw caseConflict(zarrFormat.name, path, other);
    seen.set(path.toLowerCase(), path);
  }
}
