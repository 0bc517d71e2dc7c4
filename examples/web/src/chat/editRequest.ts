const listeners = new Map<string, () => void>();

/** Lets the composer open the editor of a question that is shown somewhere above it. */
export const editRequest = {
  listen(messageId: string, open: () => void): () => void {
    listeners.set(messageId, open);
    return () => {
      listeners.delete(messageId);
    };
  },
  send(messageId: string): void {
    listeners.get(messageId)?.();
  },
};
