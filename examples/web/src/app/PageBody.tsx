import type { ReactNode } from "react";

/**
 * The column of a page under its header. What is hidden from sight is positioned in here, so that nothing makes the
 * document scroll.
 */
export function PageBody({ children, className = "" }: { children: ReactNode; className?: string }) {
  return (
    <div className="relative min-h-0 flex-1 overflow-y-auto">
      <div className={`mx-auto w-full max-w-[46rem] px-4 pt-7 pb-16 sm:px-6 ${className}`}>{children}</div>
    </div>
  );
}
