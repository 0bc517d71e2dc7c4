import { counted } from "../../ui/format";
import { columnsOf, rowsOf, scalarText } from "./views";

/** More rows would keep the page busy; the JSON has them all. */
const mostRows = 500;

/** Flat objects, one on each row. */
export function JsonTable({ value }: { value: unknown }) {
  const rows = rowsOf(value);
  const columns = columnsOf(rows);
  const numeric = new Set(
    columns.filter((column) => rows.every((row) => row[column] === undefined || typeof row[column] === "number")),
  );
  const align = (column: string) => (numeric.has(column) ? "text-right tabular-nums" : "text-start");
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Rows">
      <table className="w-full border-collapse text-sm">
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column}
                scope="col"
                className={`border-b border-line px-3 py-1.5 font-semibold ${align(column)}`}
              >
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, mostRows).map((row, index) => (
            <tr key={index} className="not-last:border-b not-last:border-line">
              {columns.map((column) => (
                <td key={column} dir="auto" className={`px-3 py-1.5 align-top break-words ${align(column)}`}>
                  {scalarText(row[column])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > mostRows && (
        <p className="px-3 py-1.5 text-xs text-soft">
          The first {mostRows} of {counted(rows.length, "row")}. The JSON has all of them.
        </p>
      )}
    </div>
  );
}
