import { expect, it } from "vitest";
import type { Attachment } from "../message";
import { clipsIn, isClip } from "./clips";

const image = (id: string, video?: Attachment["video"]): Attachment => ({
  id,
  kind: "image",
  name: `film.mp4, 0:0${id}`,
  type: "image/jpeg",
  size: 1,
  ...(video && { video }),
});

it("puts the frames of each video together", () => {
  const frame = (id: string, of: string, index: number) => image(id, { id: of, index, fps: 24 });
  const list = clipsIn([image("1"), frame("2", "a", 0), frame("3", "b", 0), frame("4", "a", 9), image("5")]);
  expect(list.map((one) => (isClip(one) ? one.frames.map(({ id }) => id) : one.id))).toEqual([
    "1",
    ["2", "4"],
    ["3"],
    "5",
  ]);
  expect(list[1]).toMatchObject({ id: "a", name: "film.mp4", fps: 24 });
});
