import { useEffect } from "react";
import { ChatPage } from "../chat/ChatPage";
import { FinetunePage } from "../finetune/FinetunePage";
import { useHistory } from "../history/historyStore";
import { ModelsPage } from "../models/ModelsPage";
import { SelfTestPage } from "../selftest/SelfTestPage";
import { SettingsPage } from "../settings/SettingsPage";
import { useTheme } from "../settings/theme";
import { OtherTab } from "./OtherTab";
import { useRoute } from "./route";
import { startSession, useSession } from "./session";
import { Shell } from "./Shell";
import { Starting } from "./Starting";
import { Toasts } from "./Toasts";

export function App() {
  useTheme();
  useEffect(startSession, []);
  const ownership = useSession((state) => state.ownership);
  const opened = useHistory((state) => state.client !== null || state.error !== null);
  const route = useRoute();

  if (ownership === "waiting" || ownership === "taking") return <OtherTab taking={ownership === "taking"} />;
  if (ownership === "asking" || !opened) return <Starting />;
  return (
    <Shell route={route}>
      {route.page === "chat" && <ChatPage chatId={route.chatId} />}
      {route.page === "models" && <ModelsPage />}
      {route.page === "finetune" && <FinetunePage />}
      {route.page === "selftest" && <SelfTestPage />}
      {route.page === "settings" && <SettingsPage />}
      <Toasts />
    </Shell>
  );
}
