import { isFixed } from "../../../meta/data-type.ts";
import type { DecodedChunk, EncodedChunk, Region } from "../../../streams/chunk.ts";
import { addShared, OpenChunks } from "../../../streams/open-chunks.ts";
import { coordsIn } from "../../../streams/regrid.ts";
import { intersect, selectedRegions } from "../../../streams/selection.ts";
import type { Stage } from "../../../streams/stage.ts";
import { indexOf, product } from "../../../util/shape.ts";
import { splitsOf } from "../../plan/passes.ts";
import { boxesTouching, headerSize, pieceOf } from "../../plan/scratch-layout.ts";
import { itemsOf, type ScratchTask } from "../../plan/task.ts";
import { writeHeader } from "./piece-header.ts";
import { fixedObject, type GatherOptions, type OpenPiece, variableObject } from "./scratch-objects.ts";

/**
 * Sorts incoming chunks by the boxes of the next stage, and emits all of them as one scratch object when the stream
 * ends. The object is empty if all chunks were missing.
 */
export function gatherStage(task: ScratchTask, options: GatherOptions): Stage<DecodedChunk, EncodedChunk> {
  const { selection, buffers, chunk } = options;
  const { job, pass } = task;
  const box = itemsOf(task);
  const next = splitsOf(job, pass + 1);
  const boxes = product(box.shape) > 0 ? boxesTouching(box, next) : box;
  const layout = { box, pieces: product(boxes.shape), headerSize: headerSize(job, pass) };
  const object = isFixed(chunk.dataType)
    ? fixedObject(layout, chunk.dataType.size, options)
    : variableObject(layout, options);
  const open: OpenPiece[] = [];
  const present: Region[] = [];
  let someMissing = false;

  const pieceAt = (coords: readonly number[]): OpenPiece | undefined => {
    const ordinal = indexOf(
      coords.map((c, d) => c - (boxes.start[d] ?? 0)),
      boxes.shape,
    );
    const known = open[ordinal];
    if (known) return known;
    const piece = pieceOf(box, next, coords);
    if (piece) open[ordinal] = { ...piece, assembly: object.begin(piece) };
    return open[ordinal];
  };

  let touched: OpenChunks<OpenPiece> | undefined;
  const piecesTouching = (items: Region): OpenChunks<OpenPiece> => {
    const coords = boxesTouching(items, next);
    if (touched?.areAt(coords)) return touched;
    const pieces = [...coordsIn(coords)].flatMap((at) => pieceAt(at) ?? []);
    touched = new OpenChunks(coords, pieces);
    return touched;
  };

  const addToAll = (piece: DecodedChunk, items: Region) => {
    const pieces = piecesTouching(items);
    if (pieces.addSync(piece, items, selection)) return;
    for (const open of pieces.boxes) addShared(open, piece, items);
  };

  return {
    push(piece) {
      for (const selected of selectedRegions(selection, piece.region)) {
        const items = intersect(selected, box);
        if (items === undefined) continue;
        if (piece.data) present.push(items);
        else someMissing = true;
        addToAll(piece, items);
      }
      if (piece.data) buffers.give(piece.data.bytes);
      piece.release?.();
      return [];
    },
    end() {
      const ofSome = someMissing ? present : undefined;
      const bytes = object.finish(open, (header, { region }) =>
        writeHeader(header, region, job.target.chunkShape, ofSome),
      );
      return [{ index: 0, coords: task.coords, region: box, bytes }];
    },
  };
}
