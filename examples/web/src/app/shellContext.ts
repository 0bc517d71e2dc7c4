import { createContext, type ReactNode } from "react";

/** The button that opens the drawer; each page puts it at the start of its header. */
export const ShellContext = createContext<ReactNode>(null);
