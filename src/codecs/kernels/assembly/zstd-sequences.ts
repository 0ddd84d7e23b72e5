import { copyLiterals } from "./copy";

/** The result of the match search: the sequences of a block, and the literals between them. */

/** Sequences: literal length, match length, and offset + 3 (or 1 for the previous offset); u32 each, and one unused. */
export const SEQUENCES = memory.data(16 * (32 * 1024 + 2), 16);
export const LITERALS = memory.data(128 * 1024 + 64, 16);

export let sequencesEnd: usize = 0;
export let literalsEnd: usize = 0;

/** The last two offsets. */
export let recent1: u32 = 1;
export let recent2: u32 = 4;
/** The last two offsets before the current block. */
let before1: u32 = 1;
let before2: u32 = 4;

export function startFrame(): void {
  recent1 = 1;
  recent2 = 4;
}

export function startBlock(): void {
  before1 = recent1;
  before2 = recent2;
  sequencesEnd = SEQUENCES;
  literalsEnd = LITERALS;
}

export function keepRecent(offset1: u32, offset2: u32): void {
  recent1 = offset1;
  recent2 = offset2;
}

/** Restores the last two offsets if the block is not written as sequences. */
export function dropBlock(): void {
  recent1 = before1;
  recent2 = before2;
}

// @ts-ignore: decorator
@inline
export function addSequence(anchor: usize, s: usize, code: u32, length: usize): void {
  const literals = s - anchor;
  const at = sequencesEnd;
  store<u32>(at, <u32>literals);
  store<u32>(at, <u32>length, 4);
  store<u32>(at, code, 8);
  sequencesEnd = at + 16;
  copyLiterals(literalsEnd, anchor, literals);
  literalsEnd += literals;
}

/** Adds the literals after the last sequence. */
export function addLiterals(anchor: usize, sourceEnd: usize): void {
  const rest = sourceEnd - anchor;
  memory.copy(literalsEnd, anchor, rest);
  literalsEnd += rest;
}
