/** closest is the name that one of no meaning was most likely to be, null where none is near. */
export function closest(wrong: string, names: readonly string[]): string | null {
  const plain = (name: string) => name.toLowerCase().replace(/[-_]/g, "");
  const most = Math.max(1, Math.floor(wrong.length / 3));
  const [best] = names
    .map((name) => ({ name, away: distance(plain(wrong), plain(name)) }))
    .sort((a, b) => a.away - b.away);
  return best && best.away <= most ? best.name : null;
}

// distance is Damerau's: letters that are put in, left out or replaced, and neighbours that are swapped.
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    const before = rows[i - 1]!;
    for (let j = 1; j <= b.length; j++) {
      const replaced = before[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 2] !== undefined && a[i - 2] === b[j - 1] && a[i - 1] === b[j - 2];
      row.push(Math.min(replaced, before[j]! + 1, row[j - 1]! + 1, swapped ? rows[i - 2]![j - 2]! + 1 : Infinity));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
