import { support, type Support } from "gemwire";
import { startTransition, useEffect, useState } from "react";
import { create } from "zustand";
import { useAdapters } from "../adapters/adaptersStore";
import { useChat } from "../chat/chatStore";
import { keepDraftsOf, loadDrafts, saveDrafts } from "../chat/drafts";
import { useEngine } from "../engine/engineStore";
import { useHistory } from "../history/historyStore";
import { serverInUse } from "../server/answerFrom";
import { useSettings } from "../settings/settingsStore";
import { whenIdle } from "./idle";
import { registerServiceWorker } from "./serviceWorker";
import { claimOwnership, type Owner, type Ownership } from "./ownership";

interface SessionState {
  ownership: Ownership;
  support: Support | null;
  takeOver: () => void;
}

let owner: Owner | null = null;
/** Taking and giving back come one after the other, however quickly tabs hand over. */
let turn: Promise<void> = Promise.resolve();

function inTurn(work: () => Promise<void>): Promise<void> {
  turn = turn.then(work, work);
  return turn;
}

export const useSession = create<SessionState>()(() => ({
  ownership: "asking",
  support: null,
  takeOver: () => owner?.takeOver(),
}));

/**
 * useOwnership follows who owns the chats, in transitions: the page that a change brings is rendered in slices, between
 * which the browser paints and listens, where a store's own hook would render it in one long task.
 */
export function useOwnership(): Ownership {
  const [ownership, setOwnership] = useState(() => useSession.getState().ownership);
  useEffect(() => {
    const follow = () => startTransition(() => setOwnership(useSession.getState().ownership));
    follow();
    return useSession.subscribe(follow);
  }, []);
  return ownership;
}

/** Waits for an answer to end and be saved, as long as a reader would. */
async function settled(): Promise<void> {
  const deadline = Date.now() + 3000;
  while (useChat.getState().run && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function release(): Promise<void> {
  useChat.getState().stop();
  saveDrafts();
  await settled();
  useChat.getState().forget();
  await Promise.allSettled([useEngine.getState().close(), useHistory.getState().close()]);
}

/**
 * Opens what only the owner may: the history, and the model of the last visit. Nothing waits for anything else; a
 * model that needs a GPU where there is none says so by itself.
 */
async function acquire(): Promise<void> {
  if (useSession.getState().ownership !== "owner") return;
  loadDrafts();
  const adapters = useAdapters.getState();
  void adapters.refresh().then(() => adapters.purge());
  const opening = useHistory.getState().open();
  if (!serverInUse(useSettings.getState())) useEngine.getState().expect(useSettings.getState().model);
  // What computes is started behind the first paint, which it would delay.
  await whenIdle();
  if (useSession.getState().ownership !== "owner") return;
  // Copies for use without a network come behind what this visit needs itself.
  if (serverInUse(useSettings.getState())) registerServiceWorker();
  else void useEngine.getState().open(useSettings.getState().model).finally(registerServiceWorker);
  useSession.setState({ support: await support() });
  await opening;
  const history = useHistory.getState();
  if (history.client && history.error === null) keepDraftsOf(history.conversations.map(({ id }) => id));
}

/** startSession runs once for the page; it ends with it. */
export function startSession(): void {
  if (owner) return;
  addEventListener("pagehide", () => {
    if (useSession.getState().ownership === "owner") saveDrafts();
  });
  owner = claimOwnership({
    onChange: (ownership) => {
      useSession.setState({ ownership });
      if (ownership === "owner") void inTurn(acquire);
    },
    onRelease: () => inTurn(release),
  });
}
