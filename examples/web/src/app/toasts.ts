import { create } from "zustand";

export interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void };
}

interface ToastState {
  toasts: Toast[];
  show: (text: string, action?: Toast["action"]) => void;
  hide: (id: number) => void;
}

let last = 0;

export const useToasts = create<ToastState>()((set, get) => ({
  toasts: [],
  show: (text, action) => {
    const id = ++last;
    set({ toasts: [...get().toasts.slice(-2), action ? { id, text, action } : { id, text }] });
    setTimeout(() => get().hide(id), action ? 12_000 : 5000);
  },
  hide: (id) => set({ toasts: get().toasts.filter((toast) => toast.id !== id) }),
}));
