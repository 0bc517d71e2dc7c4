import { counted } from "../../ui/format";
import { isScalar, scalarText } from "./views";

/** Deeper values, and members beyond so many, are shown as JSON or only counted: an answer may nest without an end. */
const deepest = 24;
const mostMembers = 200;

/** A value with its members below it, which can be folded. */
export function JsonTree({ value }: { value: unknown }) {
  return (
    <div className="p-3 text-sm">
      <Members value={value as object} depth={0} />
    </div>
  );
}

function Members({ value, depth }: { value: object; depth: number }) {
  const members = Object.entries(value) as [string, unknown][];
  const numbered = Array.isArray(value);
  if (members.length === 0) return <p className="text-soft">{numbered ? "No items" : "Nothing"}</p>;
  return (
    <ul className="space-y-1">
      {members.slice(0, mostMembers).map(([key, member]) => (
        <li key={key}>
          <Member name={numbered ? String(Number(key) + 1) : key} value={member} depth={depth} />
        </li>
      ))}
      {members.length > mostMembers && (
        <li className="text-xs text-soft">and {counted(members.length - mostMembers, "other")}</li>
      )}
    </ul>
  );
}

function Member({ name, value, depth }: { name: string; value: unknown; depth: number }) {
  if (isScalar(value) || depth >= deepest)
    return (
      <p className="flex flex-wrap gap-x-2" dir="auto">
        <span className="font-medium text-soft">{name}</span>
        <span className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
          {isScalar(value) ? scalarText(value) : "…"}
        </span>
      </p>
    );
  return (
    <details open={depth < 3}>
      <summary className="cursor-pointer font-medium text-soft">
        {name} <span className="ml-1.5 text-xs font-normal">{sizeOf(value as object)}</span>
      </summary>
      <div className="mt-1 ml-1.5 border-l border-line pl-3">
        <Members value={value as object} depth={depth + 1} />
      </div>
    </details>
  );
}

const sizeOf = (value: object): string =>
  Array.isArray(value) ? counted(value.length, "item") : counted(Object.keys(value).length, "field");
