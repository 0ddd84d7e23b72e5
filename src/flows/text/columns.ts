/** Rows whose cells stand below each other, two spaces apart, indented; one line a row. */
export function columns(rows: readonly (readonly string[])[], indent = 2): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  }
  const margin = " ".repeat(indent);
  return rows
    .map((row) => `${margin}${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ")}`.trimEnd())
    .join("\n");
}

/** Names and what they are, in lines of at most `width`; what does not fit goes on below itself. */
export function definitions(rows: readonly (readonly [name: string, text: string])[], width = 100): string {
  const room = Math.max(...rows.map(([name]) => name.length));
  const parts = rows.flatMap(([name, text]) => {
    const [first = "", ...more] = wrapped(text, width - room - 4);
    return [[name, first], ...more.map((line) => ["", line])];
  });
  return columns(parts);
}

/** Text in lines of at most `width`, broken at spaces. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
