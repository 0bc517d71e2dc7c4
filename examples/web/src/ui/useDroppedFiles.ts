import { useEffect, useState } from "react";

const filesOf = (data: DataTransfer | null): File[] => [...(data?.files ?? [])];

/** Hears of files that are dropped anywhere on the page; true while some are held over it. */
export function useDroppedFiles(take: (files: File[]) => unknown): boolean {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setHeld(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setHeld(false);
    };
    const drop = (event: DragEvent) => {
      setHeld(false);
      const files = filesOf(event.dataTransfer);
      // Another part of the page may have taken them.
      if (files.length === 0 || event.defaultPrevented) return;
      event.preventDefault();
      take(files);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, [take]);
  return held;
}
