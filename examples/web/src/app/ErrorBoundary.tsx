import { Component, type ReactNode } from "react";

/** The last resort: what the app did not foresee ends in a page that can be left, not in a white one. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <main className="mx-auto max-w-xl p-8">
        <h1 className="font-serif text-2xl">Something went wrong</h1>
        <p className="mt-3">Your chats are safe. Reload the page. If it happens again, please report this:</p>
        <pre tabIndex={0} className="mt-3 overflow-x-auto rounded-md bg-sunk p-3 font-mono text-xs">
          {error.message}
        </pre>
        <button
          type="button"
          className="mt-4 rounded-md bg-accent px-4 py-2 text-on-accent"
          onClick={() => location.reload()}
        >
          Reload
        </button>
      </main>
    );
  }
}
