import { useEffect, useRef, type ReactNode } from "react";
import { IconButton } from "./Button";

interface Props {
  open: boolean;
  title: string;
  side: "left" | "right";
  onClose: () => void;
  children: ReactNode;
  /** Hides the title from sight where the content says it. */
  bare?: boolean;
}

/** A modal sheet at one side. The native dialog keeps the focus inside and gives it back; Escape closes. */
export function Panel({ open, title, side, onClose, children, bare = false }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    if (open && !element.open) element.showModal();
    if (!open && element.open) element.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
      className={
        "m-0 h-dvh max-h-none w-[min(23rem,88vw)] max-w-none overflow-y-auto border-line bg-raised " +
        (side === "right" ? "ml-auto border-l" : "border-r")
      }
    >
      {open && (
        <div className={bare ? "h-full" : "px-5 pt-3 pb-8"}>
          <div className={bare ? "absolute top-2 right-2 z-10" : "mb-3 flex items-center justify-between"}>
            {!bare && <h2 className="text-base font-semibold">{title}</h2>}
            <IconButton icon="close" label="Close" onClick={onClose} />
          </div>
          {children}
        </div>
      )}
    </dialog>
  );
}
