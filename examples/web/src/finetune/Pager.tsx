import { IconButton } from "../ui/Button";
import { count } from "../ui/format";

interface Props {
  label: string;
  /** From 0. */
  page: number;
  pages: number;
  onPage: (page: number) => void;
}

/** Goes through pages, where there are several. */
export function Pager({ label, page, pages, onPage }: Props) {
  if (pages < 2) return null;
  return (
    <nav aria-label={label} className="mt-2 flex items-center gap-1 text-sm text-soft tabular-nums">
      <IconButton small icon="left" label="Previous page" disabled={page === 0} onClick={() => onPage(page - 1)} />
      <span>
        {count(page + 1)} of {count(pages)}
      </span>
      <IconButton small icon="right" label="Next page" disabled={page >= pages - 1} onClick={() => onPage(page + 1)} />
    </nav>
  );
}
