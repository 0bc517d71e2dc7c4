import { useEngine } from "../engine/engineStore";
import { useSettings, type Settings } from "../settings/settingsStore";
import type { Server } from "./server";

/** The server that answers, or null where the tab does. */
export const serverInUse = ({ server, answersFrom }: Pick<Settings, "server" | "answersFrom">): Server | null =>
  answersFrom === "server" && server !== null && server.model !== "" ? server : null;

/** Whether a question can be answered now, by whichever of the two. */
export const canAnswer = (): boolean =>
  serverInUse(useSettings.getState()) !== null || useEngine.getState().engine.state === "ready";

/** answerFromServer has all chats answered by a server. The tab's model goes: this device need not hold it. */
export function answerFromServer(server: Server): void {
  useSettings.getState().set({ server, answersFrom: "server" });
  void useEngine.getState().close();
}

/** answerHere has all chats answered in the tab again, by the model of the last visit unless one is open. */
export function answerHere(): void {
  useSettings.getState().set({ answersFrom: "tab" });
  const { engine, open } = useEngine.getState();
  if (engine.state === "closed") void open(useSettings.getState().model);
}
