import { lazy, Suspense, useEffect } from "react";
import { ChatPage } from "../chat/ChatPage";
import { useChat } from "../chat/chatStore";
import { useHistory } from "../history/historyStore";
import { useTheme } from "../settings/theme";
import { OtherTab } from "./OtherTab";
import { useRoute } from "./route";
import { startSession, useOwnership } from "./session";
import { Shell } from "./Shell";
import { Starting } from "./Starting";
import { Toasts } from "./Toasts";

// A visitor comes for a chat; the other pages come when they are first opened.
const ModelsPage = lazy(() => import("../models/ModelsPage").then((page) => ({ default: page.ModelsPage })));
const FinetunePage = lazy(() => import("../finetune/FinetunePage").then((page) => ({ default: page.FinetunePage })));
const SelfTestPage = lazy(() => import("../selftest/SelfTestPage").then((page) => ({ default: page.SelfTestPage })));
const SettingsPage = lazy(() => import("../settings/SettingsPage").then((page) => ({ default: page.SettingsPage })));
const LicensesPage = lazy(() => import("../settings/LicensesPage").then((page) => ({ default: page.LicensesPage })));

const Coming = () => <div aria-busy="true" className="flex-1" />;

export function App() {
  useTheme();
  const ownership = useOwnership();
  useEffect(startSession, []);
  const opened = useHistory((state) => state.opened);
  const shown = useChat((state) => state.conversation.id);
  const route = useRoute();
  // A chat of before comes out of the history; a new one needs none to begin.
  const there = route.chatId === null || route.chatId === shown || opened;

  if (ownership === "waiting" || ownership === "taking") return <OtherTab taking={ownership === "taking"} />;
  if (ownership === "asking") return <Starting />;
  return (
    <Shell route={route}>
      {route.page === "chat" && (there ? <ChatPage chatId={route.chatId} /> : <Coming />)}
      <Suspense fallback={<Coming />}>
        {route.page === "models" && <ModelsPage />}
        {route.page === "finetune" && <FinetunePage />}
        {route.page === "selftest" && <SelfTestPage />}
        {route.page === "settings" && <SettingsPage />}
        {route.page === "licenses" && <LicensesPage />}
      </Suspense>
      {route.page !== "chat" && <Toasts />}
    </Shell>
  );
}
