// What the shorter examples take for granted.
import type { Message, Model as AnyModel } from "gemwire";

declare global {
  const url: string;
  const sha256: string;
  const signal: AbortSignal;
  const model: AnyModel;
  const messages: Message[];
}
