// The final screen of a terminal, for output that erases its own progress lines.

const ESCAPE = "\u001b";
/** The escape that goes back to the first column and up some lines, and erases everything from there. */
const ERASE = new RegExp(`((?:\\r${ESCAPE}\\[\\d+A)?\\r${ESCAPE}\\[[JK])`);

/** The text in pieces shown one after another: lines, and what follows an erasure. */
export function piecesOf(text) {
  const pieces = [];
  for (const [i, part] of text.split(ERASE).entries()) {
    if (i % 2 === 1) pieces.push({ text: part, erases: true });
    else {
      const [first = "", ...lines] = part.split(/(?<=\r\n)/);
      const last = pieces.at(-1);
      if (last) last.text += first;
      else pieces.push({ text: first, erases: false });
      pieces.push(...lines.map((line) => ({ text: line, erases: false })));
    }
  }
  return pieces.filter((piece) => piece.text !== "");
}

/** The lines that remain after all erasures. */
export function linesLeft(text) {
  const lines = [""];
  for (const [i, part] of text.split(ERASE).entries()) {
    if (i % 2 === 1) {
      const [, up = "0"] = /\[(\d+)A/.exec(part) ?? [];
      lines.length = Math.max(1, lines.length - Number(up));
      lines[lines.length - 1] = "";
    } else {
      const [first = "", ...rest] = part.split("\r\n");
      lines[lines.length - 1] += first;
      lines.push(...rest);
    }
  }
  return lines;
}
