import { create } from "zustand";

export interface Toast {
  id: number;
  text: string;
  look: "note" | "warning";
  action?: { label: string; run: () => void };
}

interface ToastState {
  toasts: Toast[];
  show: (text: string, action?: Toast["action"]) => void;
  /** Shows what went wrong, or what does not work. */
  warn: (text: string) => void;
  hide: (id: number) => void;
}

/** More would be read by nobody. */
const most = 2;
const shortly = 5000;
const longer = 12_000;

let last = 0;

export const useToasts = create<ToastState>()((set, get) => {
  const add = (toast: Omit<Toast, "id">, milliseconds: number) => {
    const id = ++last;
    const others = get().toasts.filter(({ text }) => text !== toast.text);
    set({ toasts: [...others.slice(1 - most), { id, ...toast }] });
    setTimeout(() => get().hide(id), milliseconds);
  };
  return {
    toasts: [],
    show: (text, action) => add({ text, look: "note", ...(action && { action }) }, action ? longer : shortly),
    warn: (text) => add({ text, look: "warning" }, longer),
    hide: (id) => set({ toasts: get().toasts.filter((toast) => toast.id !== id) }),
  };
});
