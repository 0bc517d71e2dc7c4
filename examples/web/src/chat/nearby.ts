import { createContext, startTransition, use, useEffect, useState, type RefObject } from "react";

/** Told of a message that comes near what is in sight, or goes far from it; height is its own, in pixels. */
type Tell = (near: boolean, height: number) => void;

/** How far from sight a message is still laid out, in heights of the view. */
const margin = "150% 0px";

/** Watches which messages of a thread are near the ones in sight. */
export class Nearby {
  #observer: IntersectionObserver | null = null;
  #tell = new Map<Element, Tell>();

  /** Watches an element of the scroller until the function that it returns is called. */
  observe(element: Element, scroller: Element | null, tell: Tell): () => void {
    this.#observer ??= new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting, boundingClientRect } of entries)
          this.#tell.get(target)?.(isIntersecting, boundingClientRect.height);
      },
      { root: scroller, rootMargin: margin },
    );
    this.#tell.set(element, tell);
    this.#observer.observe(element);
    return () => {
      this.#tell.delete(element);
      this.#observer?.unobserve(element);
    };
  }
}

export const NearbyContext = createContext(new Nearby());

/** What would be lost if it were taken away: what is being written or played, has the focus, or was opened. */
const kept = "textarea, audio, video, details[open], :focus";

/** Whether an element is near what is in sight, and if not, how high it was. */
export function useNear(ref: RefObject<Element | null>, atFirst: boolean): { near: boolean; height: number | null } {
  const nearby = use(NearbyContext);
  const [state, setState] = useState<{ near: boolean; height: number | null }>({ near: atFirst, height: null });
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    return nearby.observe(element, element.closest("[data-scroller]"), (near, height) => {
      if (!near && element.querySelector(kept)) return;
      startTransition(() =>
        setState((before) => (before.near === near ? before : { near, height: near ? null : height })),
      );
    });
  }, [nearby, ref]);
  return state;
}
