import type { Model, Tool } from "gemwire";
import { useEffect, useMemo, useState } from "react";
import { useEngine } from "../engine/engineStore";
import { serverInUse } from "../server/answerFrom";
import { useSettings, type ImageBudget } from "../settings/settingsStore";
import { mediaOf } from "./attachments/media";
import { useChat } from "./chatStore";
import type { ContextRoom } from "./contextRoom";
import { draftKey, emptyDraft, useDraftStore } from "./drafts";
import type { Attachment, ChatMessage } from "./message";
import { promptOf, toolsOf } from "./prompt";
import { pathTo } from "./tree";

/** What is typed is counted when the typing pauses. */
const pause = 250;

interface Asked {
  path: readonly ChatMessage[];
  system: string;
  imageBudget: ImageBudget;
  tools: Tool[];
  thinking: boolean;
  preserveThinking: boolean;
}

async function countPrompt(model: Model, asked: Asked, signal: AbortSignal): Promise<number> {
  const { path, tools, thinking, preserveThinking, ...settings } = asked;
  const prompt = promptOf(path, { ...settings, media: await mediaOf(path) });
  return model.countTokens(prompt, { thinking, preserveThinking, signal, ...(tools.length > 0 && { tools }) });
}

/** The question that is being written, before its words are counted. */
const questionOf = (attachments: readonly Attachment[]): ChatMessage => ({
  id: "",
  conversationId: "",
  parentId: null,
  role: "user",
  content: "",
  status: "done",
  createdAt: 0,
  attachments: [...attachments],
});

/** useCount runs a count again when it changes; null while nothing is known. */
function useCount(count: ((signal: AbortSignal) => Promise<number>) | null): number | null {
  const [counted, setCounted] = useState<number | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const settle = (value: number | null) => {
      if (!signal.aborted) setCounted(value);
    };
    const timer = setTimeout(
      () => {
        if (!count) settle(null);
        else
          count(signal).then(settle, () => {
            settle(null);
          });
      },
      count ? pause : 0,
    );
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [count]);
  return counted;
}

/**
 * useContextRoom counts what would be sent now, by the model's own template and tokenizer; null until that is known.
 */
export function useContextRoom(): ContextRoom | null {
  const { conversation, tree, run } = useChat();
  const open = useEngine(({ engine }) => (engine.state === "ready" ? engine.model : null));
  const settings = useSettings();
  const draft = useDraftStore((state) => state.drafts.get(draftKey(conversation, tree)) ?? emptyDraft);
  // How much a server's model holds, its API does not say.
  const model = serverInUse(settings) ? null : open;
  const { options, leafId } = conversation;
  const { thinking, preserveThinking } = options.sampling ?? settings.sampling;
  const system = options.system.trim() || settings.system;
  const imageBudget = options.imageBudget ?? settings.imageBudget;
  const answering = run !== null;
  const { text, attachments } = draft;

  const prompt = useMemo(() => {
    if (!model) return null;
    const path = pathTo(tree, leafId);
    const asked = {
      path: answering ? path : [...path, questionOf(attachments)],
      system,
      imageBudget,
      tools: toolsOf(options),
      thinking,
      preserveThinking,
    };
    return (signal: AbortSignal) => countPrompt(model, asked, signal);
  }, [model, tree, leafId, answering, attachments, system, imageBudget, options, thinking, preserveThinking]);
  const words = useMemo(() => {
    if (!model || text === "") return null;
    return (signal: AbortSignal) => model.countTokens(text, { signal });
  }, [model, text]);

  const sent = useCount(prompt);
  const typed = useCount(words) ?? 0;
  if (!model || sent === null) return null;
  return {
    used: sent + typed,
    context: model.info.context,
    most: model.info.maxContext,
    forgets: settings.forget,
  };
}
