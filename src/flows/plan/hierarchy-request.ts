import type { GridStrategy } from "../../hierarchy/read-options.ts";
import type { ArrayMetadata, NodeMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import type { FormatDefinition, NodeLayout } from "../../meta/format.ts";
import type { FormatOptions } from "../../meta/formats.ts";
import type { StoreSpec } from "../../stores/store.ts";
import type { Selection } from "../../streams/selection.ts";
import type { JsonObject } from "../../util/json-value.ts";
import type { NodeSpec, NodeWarning, Plan, PlannedConversion } from "./plan.ts";
import type { PlanPace, StoreProfiles } from "./store-profile.ts";
import type { MissingChunks } from "./strategies/strategy.ts";

/** A node of the source as it was opened. */
export interface SourceNode {
  readonly path: string;
  readonly metadata: NodeMetadata;
  readonly layout: NodeLayout;
  /** Its documents that exist, by key. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
  /** How its documents were read. */
  readonly reading?: FormatOptions;
  /** Given where consolidated metadata alone hold its documents. */
  readonly consolidated?: ReadonlyMap<string, Uint8Array> | undefined;
}

/** A node that is not known here: its keys are copied as they are, and its documents with those of the others. */
export interface CopiedNode {
  readonly path: string;
  /** Keys of its documents. */
  readonly documents: ReadonlySet<string>;
}

/** The nodes of a source in the words of the target's format. */
export interface NodesInFormat {
  /** New metadata by path in the source store; a node that is not there keeps its own. */
  readonly metadata: ReadonlyMap<string, NodeMetadata>;
  readonly warnings: readonly NodeWarning[];
}

/** How an array is read whose values are converted. */
export interface ConvertedReading {
  readonly planned: PlannedConversion;
  /** The source array as it is read. */
  readonly metadata: ArrayMetadata;
  /** Whether missing chunks are written out, as what they hold becomes something else than the new fill value. */
  readonly isMissingWritten: boolean;
}

/** What becomes of an array: its new metadata, and the part of it that is taken. */
export interface Change {
  readonly metadata: ArrayMetadata;
  readonly selection?: Selection;
  /** Given where values are converted. */
  readonly reading?: ConvertedReading;
}

/** Which nodes of a source have documents of another format besides their own. */
export interface OtherFormat {
  readonly name: ZarrFormat;
  /** What such documents state as attributes, by paths in the source; and the groups that have them consolidated. */
  readonly nodes: ReadonlyMap<string, JsonObject>;
  readonly consolidated: ReadonlySet<string>;
}

export interface HierarchyPlanRequest extends PlanPace {
  readonly operation: Plan["operation"];
  readonly source: NodeSpec;
  readonly target: NodeSpec;
  /** The root first; then all nodes below it. */
  readonly nodes: readonly SourceNode[];
  /** Nodes that are copied without being understood. */
  readonly copied?: readonly CopiedNode[];
  readonly zarrFormat: FormatDefinition;
  /** What the conventions of another format make of the nodes' metadata. */
  readonly converted?: NodesInFormat;
  /** Of each array that gets another fill value, by path: its chunks that are missing. */
  readonly missing?: ReadonlyMap<string, MissingChunks>;
  /** What is to become of an array; undefined: it stays as it is. */
  readonly change: (path: string, metadata: ArrayMetadata) => Change | undefined;
  /** JSON pointers of what the format may drop. */
  readonly allowLoss?: readonly string[];
  /** Whether keys of the source's listing that no task and no document covers are copied as they are. */
  readonly copyKeys: boolean;
  /** Whether any document changes; else consolidated metadata stay true and are copied with the rest. */
  readonly changed: boolean;
  /** Another format whose documents the target gets too, for the nodes that have them in the source. */
  readonly keptFormat?: OtherFormat | undefined;
  /** Paths of the source's groups that have consolidated metadata, so that the target's get them too. */
  readonly consolidated: readonly string[];
  /** Where scratch objects go, if there are any. */
  readonly scratch?: StoreSpec | undefined;
  /** What is assumed of the stores that are over a network. */
  readonly profiles?: StoreProfiles | undefined;
  /** The strategy for arrays whose grid changes; the cheaper one by default. */
  readonly strategy?: GridStrategy | undefined;
}
