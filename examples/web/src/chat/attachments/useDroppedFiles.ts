import { useEffect } from "react";

const filesOf = (data: DataTransfer | null): File[] => [...(data?.files ?? [])];

/** Hears of files that are dropped anywhere on the page. */
export function useDroppedFiles(take: (files: File[]) => unknown): void {
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      const files = filesOf(event.dataTransfer);
      if (files.length === 0) return;
      event.preventDefault();
      take(files);
    };
    addEventListener("dragover", over);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("drop", drop);
    };
  }, [take]);
}
