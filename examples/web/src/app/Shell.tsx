import { lazy, Suspense, useRef, useState, type ReactNode } from "react";
import { HistoryList } from "../history/HistoryList";
import { IconButton } from "../ui/Button";
import { Icon, type IconName } from "../ui/Icon";
import { Panel } from "../ui/Panel";
import { chatHref, pageHref, type Page, type Route } from "./route";
import { ShellContext } from "./shellContext";
import { useShortcuts } from "./shortcuts";
import { Wordmark } from "./Wordmark";

const RunBadge = lazy(() => import("../finetune/RunBadge").then((badge) => ({ default: badge.RunBadge })));

const links: { page: Page; label: string; icon: IconName }[] = [
  { page: "models", label: "Models", icon: "gem" },
  { page: "finetune", label: "Fine-tune", icon: "curve" },
  { page: "selftest", label: "Self-test", icon: "pulse" },
  { page: "settings", label: "Settings", icon: "settings" },
];

function Sidebar({ route }: { route: Route }) {
  return (
    <div className="flex h-full flex-col bg-sunk">
      <div className="flex h-14 shrink-0 items-center justify-between pr-2 pl-4">
        <a href={chatHref(null)} className="rounded-md" aria-label="gemwire, new chat">
          <Wordmark />
        </a>
      </div>
      <HistoryList openId={route.page === "chat" ? route.chatId : null} />
      <nav aria-label="Pages" className="border-t border-line p-2">
        {links.map(({ page, label, icon }) => (
          <a
            key={page}
            href={pageHref[page]}
            aria-current={route.page === page ? "page" : undefined}
            className={
              "flex min-h-10 items-center gap-2.5 rounded-md px-2.5 text-sm font-medium text-soft hover:bg-paper " +
              "hover:text-ink aria-[current]:bg-paper aria-[current]:text-ink"
            }
          >
            <Icon name={icon} className="size-4.5" />
            <span className="flex-1">{label}</span>
            {page === "finetune" && (
              <Suspense>
                <RunBadge />
              </Suspense>
            )}
          </a>
        ))}
      </nav>
    </div>
  );
}

/** The frame of all pages: the sidebar, which is a drawer on small screens, and the page beside it. */
export function Shell({ route, children }: { route: Route; children: ReactNode }) {
  // The drawer is open for the page that it was opened on, so that going to another one closes it.
  const here = `${route.page} ${route.chatId ?? ""}`;
  const [drawerOn, setDrawerOn] = useState<string | null>(null);
  const main = useRef<HTMLElement>(null);
  useShortcuts();
  return (
    <ShellContext
      value={
        <IconButton icon="menu" label="Chats and pages" className="-ml-1 lg:hidden" onClick={() => setDrawerOn(here)} />
      }
    >
      <a
        href="#main"
        className={
          "sr-only z-50 rounded-md bg-ink px-3 py-2 text-paper focus:not-sr-only focus:fixed focus:top-2 " +
          "focus:left-2"
        }
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the page
      </a>
      <div className="flex h-full">
        <aside aria-label="Chats" className="hidden w-[17.5rem] shrink-0 border-r border-line lg:block">
          <Sidebar route={route} />
        </aside>
        <Panel open={drawerOn === here} title="Chats and pages" side="left" bare onClose={() => setDrawerOn(null)}>
          <Sidebar route={route} />
        </Panel>
        <main id="main" ref={main} tabIndex={-1} className="relative flex min-w-0 flex-1 flex-col outline-none">
          {children}
        </main>
      </div>
    </ShellContext>
  );
}
