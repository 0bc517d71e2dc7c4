import { useId, type ReactNode } from "react";

/** A part of a page under a heading of its own. */
export function Section({ title, intro, children }: { title: string; intro?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="font-serif text-[1.3125rem] tracking-tight">
        {title}
      </h2>
      {intro && <p className="mt-1 max-w-prose text-sm text-soft">{intro}</p>}
      <div className="mt-3">{children}</div>
    </section>
  );
}
