export function piecesOf(text: string): { readonly text: string; readonly erases: boolean }[];
export function linesLeft(text: string): string[];
