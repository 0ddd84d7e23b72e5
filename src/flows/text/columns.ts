/** Aligns rows as indented columns, two spaces apart; one line per row. */
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
