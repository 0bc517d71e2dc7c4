import { use, useEffect, type ReactNode } from "react";
import { ShellContext } from "./shellContext";

/** The bar at the top of a page, with the drawer's button on small screens. */
export function PageHeader({ title, children }: { title: string; children?: ReactNode }) {
  const menu = use(ShellContext);
  useEffect(() => {
    document.title = `${title} · gemwire`;
  }, [title]);
  return (
    <header className="flex h-14 shrink-0 items-center gap-1 border-b border-line px-3 sm:px-5">
      {menu}
      <h1 dir="auto" className="min-w-0 flex-1 truncate font-serif text-[1.0625rem] font-medium">
        {title}
      </h1>
      {children}
    </header>
  );
}
