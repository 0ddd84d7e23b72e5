import type { ArrayMetadata, GroupMetadata, NodeMetadata } from "../../meta/array-metadata.ts";
import { consolidate } from "../../meta/consolidated.ts";
import type { DataTypeOption, NameOfOption } from "../../meta/data-type-option.ts";
import type { Finding, NodeLayout } from "../../meta/format.ts";
import type { WritableStore } from "../../stores/store.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { asyncDispose } from "../../util/async-dispose.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { caseConflict, isSameButForCase, joinKey } from "../../util/node-path.ts";
import { checkedOptions } from "../../util/options.ts";
import { isTaken, layoutOfNewNode } from "../create/assertions.ts";
import { documentsOf, groupMetadata, type NewArray, type NewGroup } from "../create/metadata.ts";
import type { NodeDraft, OpenCreateTarget } from "../create/place.ts";
import { ArrayWriter, NODE_WRITER_OPTIONS, type NodeWriterOptions } from "./array.ts";

export interface GroupWriterOptions extends NodeWriterOptions {
  /** Collects the documents of all nodes in the group in one document, which many readers check first. */
  readonly consolidated?: boolean | undefined;
  /** Allows names beyond ASCII in v2 too. */
  readonly allowUnicode?: boolean | undefined;
}

/**
 * Writes a new group, with the arrays and groups in it. All of them are invisible until `close`, and `abort` removes
 * them.
 */
export class GroupWriter {
  readonly kind = "group";
  readonly store: WritableStore;
  readonly layout: NodeLayout;
  readonly metadata: GroupMetadata;
  /** Problems found in the hierarchy around it that did not prevent writing. */
  readonly findings: readonly Finding[];
  readonly #site: NodeDraft;
  readonly #options: GroupWriterOptions;
  readonly #names = new Set<string>();
  /** Members that are not closed. */
  readonly #open = new Map<string, ArrayWriter | GroupWriter | undefined>();
  /** Documents of closed members, in publishing order. */
  readonly #documents = new Map<string, Uint8Array>();
  /** Functions that remove the keys of closed members. */
  readonly #undoSteps: (() => Promise<void>)[] = [];
  #failure: { readonly error: unknown } | undefined;
  #isOver = false;

  constructor(site: NodeDraft, metadata: GroupMetadata, options: GroupWriterOptions) {
    this.store = site.store;
    this.layout = site.layout;
    this.findings = site.findings ?? [];
    this.metadata = metadata;
    this.#site = site;
    this.#options = options;
  }

  /** Path in the store that contains it. */
  get path(): string {
    return this.layout.path;
  }

  /** Starts an array in the group, in the same format. @throws as `create` */
  async create<Type extends DataTypeOption>(
    name: string,
    array: Omit<NewArray<Type>, "zarrFormat">,
    options: NodeWriterOptions = {},
  ): Promise<ArrayWriter<NameOfOption<Type>>> {
    const own = checkedOptions(options, NODE_WRITER_OPTIONS);
    const writer = await ArrayWriter.begin(this.#placeOf(name), array, { ...this.#options, ...own });
    this.#open.set(name, writer);
    return writer;
  }

  /** Starts an array in the group with metadata of the same format, such as those of an existing array. */
  async createAs(name: string, metadata: ArrayMetadata): Promise<ArrayWriter> {
    const writer = await ArrayWriter.beginAs(this.#placeOf(name), metadata, this.#options);
    this.#open.set(name, writer);
    return writer;
  }

  /** Starts a group in the group, in the same format. @throws as `createGroup` */
  async createGroup(name: string, group: Omit<NewGroup, "zarrFormat"> = {}): Promise<GroupWriter> {
    const place = this.#placeOf(name);
    const metadata = groupMetadata(group, place.layout);
    const options = { ...this.#options, consolidated: false };
    const writer: GroupWriter = new GroupWriter(await place.begin(metadata), metadata, options);
    this.#open.set(name, writer);
    return writer;
  }

  /**
   * Publishes the group with everything in it: documents of arrays before those of the groups that contain them.
   *
   * @throws `unsupported-operation` while a member is open; the failure of a member that left data in an archive.
   */
  async close(): Promise<void> {
    this.#assertOpen();
    const [open] = this.#open.keys();
    if (open !== undefined) {
      throw new ZarrflowError("unsupported-operation", `\`${open}\` in the group is still open`, {
        path: this.path,
        hint: "Close or abort its members first.",
      });
    }
    this.#isOver = true;
    try {
      if (this.#failure) throw this.#failure.error;
      throwIfAborted(this.#options.signal);
      const { path, zarrFormat } = this.layout;
      const documents = new Map([...this.#documents, ...documentsOf(this.metadata, this.layout)]);
      const published = this.#options.consolidated ? consolidate(zarrFormat, path, documents) : documents;
      await this.#site.publish(published, this.#undo);
    } catch (error) {
      await this.#site.discard(this.#undo, error).catch(() => {});
      throw error;
    }
  }

  /** Removes the group with everything in it. Does nothing after `close` or `abort`. */
  async abort(reason?: unknown): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const error = reason ?? new ZarrflowError("aborted", "the group was aborted", { path: this.path });
    for (const member of [...this.#open.values()]) await member?.abort(error);
    await this.#site.discard(this.#undo, error);
  }

  /** Aborts the group unless it is closed. */
  async [asyncDispose](): Promise<void> {
    await this.abort();
  }

  readonly #undo = async (): Promise<void> => {
    for (const undo of this.#undoSteps) await undo();
  };

  #placeOf(name: string): OpenCreateTarget {
    this.#assertOpen();
    if (name === "" || name.includes("/")) {
      throw new ZarrflowError(
        "invalid-node-name",
        "the name of a member must not be empty or contain a slash",
        {
          path: this.path,
          value: name,
        },
      );
    }
    const layout = layoutOfNewNode(joinKey(this.path, name), this.layout.zarrFormat, this.#options);
    return { layout, begin: ({ kind }) => this.#begin(name, layout, kind) };
  }

  async #begin(name: string, layout: NodeLayout, kind: NodeMetadata["kind"]): Promise<NodeDraft> {
    const { store } = this;
    const other = layout.hierarchy.ignoresCase && [...this.#names].find((one) => isSameButForCase(one, name));
    if (other) throw caseConflict(layout.zarrFormat, layout.path, joinKey(this.path, other));
    const isMember = this.#names.has(name);
    this.#names.add(name);
    if (isMember || (!store.singleWriter && (await isTaken(store, layout, kind)))) {
      throw new ZarrflowError("target-exists", "the group already has a member with this name", {
        path: layout.path,
      });
    }
    this.#open.set(name, undefined);
    return {
      store,
      layout,
      publish: async (documents, undo) => {
        for (const [key, bytes] of documents) this.#documents.set(key, bytes);
        this.#undoSteps.push(undo);
        this.#open.delete(name);
      },
      discard: async (undo, reason) => {
        this.#open.delete(name);
        this.#names.delete(name);
        // Nothing can be removed from an archive.
        if (store.singleWriter) this.#failure ??= { error: reason };
        else await undo();
      },
    };
  }

  #assertOpen(): void {
    if (!this.#isOver) return;
    throw new ZarrflowError("unsupported-operation", "the group is already published or aborted", {
      path: this.path,
    });
  }
}
