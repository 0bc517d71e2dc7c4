import { renderToStaticMarkup } from "react-dom/server";
import { createElement } from "react";
import { expect, test } from "vitest";
import { EmptyChat } from "../chat/EmptyChat";
import firstShell from "./firstShell.html?raw";

const words = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll(" ;", ";")
    .trim();

test("the first shell says what an empty chat says", () => {
  expect(words(firstShell)).toBe(words(renderToStaticMarkup(createElement(EmptyChat))));
});
