"""Draws the pictures that nano learns from: shapes, digits, letters, icons, bars, places of two things, counting to nine.

python pictures.py OUT [--count 40000] [--seed 1] [--workers 16]      for training: OUT.npy and OUT.jsonl
python pictures.py FOLDER --held-out 200 --seed 900                     as PNG files and questions.jsonl, for evaluate_media.py
"""

import argparse
import json
import math
import os
import random
from multiprocessing import Pool

import numpy as np
from PIL import Image, ImageDraw, ImageFont

SIDE, GRID = 256, 8
COLORS = {"red": (220, 40, 40), "green": (40, 160, 60), "blue": (40, 80, 220), "yellow": (240, 215, 40), "orange": (245, 140, 30),
    "purple": (140, 50, 170), "pink": (245, 150, 190), "brown": (125, 75, 40), "black": (15, 15, 15), "white": (250, 250, 250),
    "gray": (135, 135, 135)}  # fmt: skip
SHAPES = "circle square triangle cross star heart diamond ring".split()
ICONS = "house tree sun moon car flower fish cup arrow face cloud umbrella".split()
NUMBERS = "zero one two three four five six seven eight nine".split()
KINDS = [*SHAPES, *ICONS, "bar", *"0123456789", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
DESCRIBE = ["What is in this picture?", "What is in this picture?", "What do you see?", "What do you see?", "Describe the picture.",
    "What does the picture show?", "Tell me what you see."]  # fmt: skip
FONTS = os.environ.get("FONTS", "/usr/share/fonts/truetype/dejavu")


def polygon(x, y, size, corners, turn=-90, inner=None):
    points = []
    for i in range(corners * (2 if inner else 1)):
        far = size * (inner if inner and i % 2 else 1)
        angle = math.radians(turn + i * 360 / (corners * (2 if inner else 1)))
        points.append((x + far * math.cos(angle), y + far * math.sin(angle)))
    return points


def shape(d, kind, x, y, s, c, back):
    """One shape or icon around (x, y), s from its middle to its edge."""
    if kind == "circle":
        d.ellipse((x - s, y - s, x + s, y + s), c)
    elif kind == "square":
        d.rectangle((x - 0.85 * s, y - 0.85 * s, x + 0.85 * s, y + 0.85 * s), c)
    elif kind == "triangle":
        d.polygon(polygon(x, y + 0.15 * s, 1.1 * s, 3), c)
    elif kind == "cross":
        d.rectangle((x - s, y - s / 3, x + s, y + s / 3), c)
        d.rectangle((x - s / 3, y - s, x + s / 3, y + s), c)
    elif kind == "star":
        d.polygon(polygon(x, y, 1.1 * s, 5, inner=0.42), c)
    elif kind == "diamond":
        d.polygon([(x, y - 1.1 * s), (x + 0.75 * s, y), (x, y + 1.1 * s), (x - 0.75 * s, y)], c)
    elif kind == "ring":
        d.ellipse((x - s, y - s, x + s, y + s), outline=c, width=max(3, int(0.38 * s)))
    elif kind == "heart":
        d.ellipse((x - s, y - 0.85 * s, x + 0.06 * s, y + 0.2 * s), c)
        d.ellipse((x - 0.06 * s, y - 0.85 * s, x + s, y + 0.2 * s), c)
        d.polygon([(x - 0.93 * s, y - 0.05 * s), (x + 0.93 * s, y - 0.05 * s), (x, y + s)], c)
    else:
        icon(d, kind, x, y, s, c, back)


def icon(d, kind, x, y, s, c, back):
    if kind == "house":
        d.rectangle((x - 0.7 * s, y - 0.1 * s, x + 0.7 * s, y + s), c)
        d.polygon([(x - s, y - 0.1 * s), (x + s, y - 0.1 * s), (x, y - s)], c)
        d.rectangle((x - 0.18 * s, y + 0.4 * s, x + 0.18 * s, y + s), back)
    elif kind == "tree":
        d.rectangle((x - 0.15 * s, y + 0.3 * s, x + 0.15 * s, y + s), c)
        d.ellipse((x - 0.7 * s, y - s, x + 0.7 * s, y + 0.45 * s), c)
    elif kind == "sun":
        d.ellipse((x - 0.5 * s, y - 0.5 * s, x + 0.5 * s, y + 0.5 * s), c)
        for i in range(8):
            a = i * math.pi / 4
            d.line((x + 0.65 * s * math.cos(a), y + 0.65 * s * math.sin(a), x + s * math.cos(a), y + s * math.sin(a)), c, max(2, int(s / 9)))
    elif kind == "moon":
        d.ellipse((x - s, y - s, x + s, y + s), c)
        d.ellipse((x - 0.45 * s, y - 1.05 * s, x + 1.4 * s, y + 0.8 * s), back)
    elif kind == "car":
        d.rectangle((x - s, y - 0.1 * s, x + s, y + 0.45 * s), c)
        d.polygon([(x - 0.6 * s, y - 0.1 * s), (x - 0.35 * s, y - 0.6 * s), (x + 0.35 * s, y - 0.6 * s), (x + 0.6 * s, y - 0.1 * s)], c)
        for w in (-0.55, 0.55):
            d.ellipse((x + (w - 0.25) * s, y + 0.2 * s, x + (w + 0.25) * s, y + 0.7 * s), c, back, max(1, int(s / 14)))
    elif kind == "flower":
        for i in range(6):
            a = i * math.pi / 3
            px, py = x + 0.6 * s * math.cos(a), y + 0.6 * s * math.sin(a)
            d.ellipse((px - 0.36 * s, py - 0.36 * s, px + 0.36 * s, py + 0.36 * s), c)
        d.ellipse((x - 0.3 * s, y - 0.3 * s, x + 0.3 * s, y + 0.3 * s), back)
    elif kind == "fish":
        d.ellipse((x - s, y - 0.5 * s, x + 0.55 * s, y + 0.5 * s), c)
        d.polygon([(x + 0.4 * s, y), (x + s, y - 0.55 * s), (x + s, y + 0.55 * s)], c)
        d.ellipse((x - 0.7 * s, y - 0.22 * s, x - 0.5 * s, y - 0.02 * s), back)
    elif kind == "cup":
        d.polygon([(x - 0.75 * s, y - 0.6 * s), (x + 0.5 * s, y - 0.6 * s), (x + 0.35 * s, y + 0.8 * s), (x - 0.6 * s, y + 0.8 * s)], c)
        d.arc((x + 0.15 * s, y - 0.35 * s, x + s, y + 0.45 * s), -100, 110, c, max(2, int(s / 7)))
    elif kind == "arrow":
        d.rectangle((x - s, y - 0.2 * s, x + 0.3 * s, y + 0.2 * s), c)
        d.polygon([(x + 0.2 * s, y - 0.6 * s), (x + s, y), (x + 0.2 * s, y + 0.6 * s)], c)
    elif kind == "face":
        d.ellipse((x - s, y - s, x + s, y + s), c)
        for e in (-0.36, 0.36):
            d.ellipse((x + (e - 0.13) * s, y - 0.45 * s, x + (e + 0.13) * s, y - 0.15 * s), back)
        d.arc((x - 0.55 * s, y - 0.4 * s, x + 0.55 * s, y + 0.6 * s), 25, 155, back, max(2, int(s / 9)))
    elif kind == "cloud":
        for cx, cy, r in ((-0.5, 0.15, 0.42), (0, -0.12, 0.52), (0.5, 0.15, 0.42)):
            d.ellipse((x + (cx - r) * s, y + (cy - r) * s, x + (cx + r) * s, y + (cy + r) * s), c)
        d.rectangle((x - 0.5 * s, y + 0.1 * s, x + 0.5 * s, y + 0.57 * s), c)
    elif kind == "umbrella":
        d.pieslice((x - s, y - s, x + s, y + s), 180, 360, c)
        d.line((x, y, x, y + 0.8 * s), c, max(2, int(s / 9)))
        d.arc((x - 0.3 * s, y + 0.6 * s, x, y + s), 0, 180, c, max(2, int(s / 9)))


def a(noun):
    return ("an " if noun[0] in "aeiou" else "a ") + noun


class Drawing:
    """A picture in work: what was drawn where, and the questions that it answers."""

    def __init__(self, r):
        self.r, self.scale = r, 2
        self.back = r.choice(list(COLORS))
        self.picture = Image.new("RGB", (SIDE * 2, SIDE * 2), self.shade(self.back))
        self.d = ImageDraw.Draw(self.picture)
        self.labels = np.zeros((GRID, GRID, 2), np.uint8)

    def shade(self, color):
        light, tint = self.r.randint(-14, 14), 0 if color in ("black", "white", "gray") else 5
        return tuple(min(255, max(0, v + light + self.r.randint(-tint, tint))) for v in COLORS[color])

    def color(self, but=()):
        alike = {"pink": ["white"], "orange": ["yellow", "red", "brown"], "brown": ["black", "orange", "red"], "purple": ["blue"]}
        near = [c for c in COLORS if self.back in alike.get(c, []) or c in alike.get(self.back, [])]
        return self.r.choice([c for c in COLORS if c != self.back and c not in but and c not in near])

    def put(self, kind, color, x, y, size):
        self.mark(kind, color, x - size, y - size, x + size, y + size)
        back = self.picture.getpixel((int(2 * x), 3))
        shape(self.d, kind, 2 * x, 2 * y, 2 * size, self.shade(color), back)

    def mark(self, kind, color, left, top, right, bottom):
        cell = SIDE / GRID
        for row in range(GRID):
            for column in range(GRID):
                cx, cy = (column + 0.5) * cell, (row + 0.5) * cell
                if left - cell / 3 < cx < right + cell / 3 and top - cell / 3 < cy < bottom + cell / 3:
                    self.labels[row, column] = KINDS.index(kind) + 1, list(COLORS).index(color) + 1

    def done(self):
        return np.asarray(self.picture.resize((SIDE, SIDE), Image.LANCZOS))

    def asked(self, count, *ways):
        return self.r.sample(ways, count)

    def scene(self):
        """Up to three things from left to right."""
        r, count = self.r, self.r.choice([1, 2, 2, 2, 3, 3])
        things, kinds = [], r.sample(SHAPES, count)
        for i in range(count):
            size = r.uniform(24, min(60, 108 / count))
            x = SIDE * (i + 0.5) / count + r.uniform(-1, 1) * max(0, SIDE / count / 2 - size - 4)
            y = r.uniform(size + 6, SIDE - size - 6)
            things.append((self.color(), kinds[i], x, y))
            self.put(kinds[i], things[-1][0], x, y, size)
        names = [a(f"{c} {k}") for c, k, _, _ in things]
        text = names[0] if count == 1 else ", ".join(names[:-1]) + " and " + names[-1]
        whole = f"{text} on {a(self.back)} background."
        out = [(q, whole[0].upper() + whole[1:]) for q in self.asked(5, *DESCRIBE)]
        c, k, _, _ = r.choice(things)
        out += [(q, f"The {k} is {c}.") for q in self.asked(1, f"What color is the {k}?", f"What color is the {k}?", f"What is the color of the {k}?")]
        out.append((r.choice(["What color is the background?", "What is the color of the background?"]), f"The background is {self.back}."))
        if [t[0] for t in things].count(c) == 1:
            out.append((f"Which shape is {c}?", f"The {k} is {c}."))
        if count > 1:
            side = r.choice(["left", "right"])
            c, k, _, _ = things[0 if side == "left" else -1]
            out.append((r.choice([f"What is on the {side}?", f"Which shape is on the {side}?"]), f"The {c} {k} is on the {side}."))
        out.append((r.choice(["How many shapes are there?", "How many shapes do you see?"]), f"There {'is one shape' if count == 1 else f'are {NUMBERS[count]} shapes'}."))
        absent = r.choice([s for s in SHAPES if s not in kinds])
        out.append(r.choice([(f"Is there {a(k)}?", f"Yes, there is {a(k)}."), (f"Is there {a(absent)}?", f"No, there is no {absent}.")]))
        return out

    def sign(self):
        """A digit or a letter."""
        r, digit = self.r, self.r.random() < 0.4
        text = r.choice("0123456789") if digit else r.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        color, size = self.color(), r.uniform(70, 200)
        names = sorted(n for n in os.listdir(FONTS) if n.startswith("DejaVuS") and n.endswith(".ttf"))
        font = ImageFont.truetype(os.path.join(FONTS, r.choice(names)), int(2 * size))
        left, top, right, bottom = self.d.textbbox((0, 0), text, font)
        w, h = right - left, bottom - top
        x, y = r.uniform(4, max(5, 2 * SIDE - w - 4)), r.uniform(4, max(5, 2 * SIDE - h - 4))
        self.d.text((x - left, y - top), text, self.shade(color), font)
        self.mark(text, color, x / 2, y / 2, (x + w) / 2, (y + h) / 2)
        kind = "digit" if digit else "letter"
        return [(f"Which {kind} is this?", f"This is the {kind} {text}."), (f"What {kind} do you see?", f"This is the {kind} {text}."),
            (r.choice(DESCRIBE), f"The {kind} {text} in {color} on {a(self.back)} background."),
            (r.choice(["Read this.", "Read this.", "What is written here?"]), text + "."),
            (f"What color is the {kind}?", f"The {kind} is {color}.")]  # fmt: skip

    def thing(self):
        """An icon."""
        r, kind, color, size = self.r, self.r.choice(ICONS), self.color(), self.r.uniform(45, 105)
        self.put(kind, color, r.uniform(size + 5, SIDE - size - 5), r.uniform(size + 5, SIDE - size - 5), size)
        return [("What is this?", f"This is {a(kind)}."), *((q, f"{a(color).capitalize()} {kind} on {a(self.back)} background.") for q in self.asked(2, *DESCRIBE)),
            (f"What color is the {kind}?", f"The {kind} is {color}."), ("Which icon is this?", f"This is {a(kind)}.")]  # fmt: skip

    def chart(self):
        """Bars of different heights and colors."""
        r, count = self.r, self.r.randint(3, 5)
        self.back = r.choice(["white", "white", "black", "gray"])
        self.d.rectangle((0, 0, 2 * SIDE, 2 * SIDE), self.shade(self.back))
        colors, heights = [], r.sample(range(2, 12), count)
        for _ in range(count):
            colors.append(self.color(colors))
        wide, base = (SIDE - 40) / count, SIDE - 20
        for i, (c, h) in enumerate(zip(colors, heights)):
            left, top = 20 + i * wide + 0.12 * wide, base - h * 18
            self.d.rectangle((2 * left, 2 * top, 2 * (left + 0.76 * wide), 2 * base), self.shade(c))
            self.mark("bar", c, left, top, left + 0.76 * wide, base)
        self.d.line((24, 2 * base, 2 * SIDE - 24, 2 * base), self.shade(self.color()), 3)
        best, least = colors[heights.index(max(heights))], colors[heights.index(min(heights))]
        return [("Which bar is the largest?", f"The {best} bar is the largest."), *((f"Which bar is the {w}?", f"The {best} bar is the {w}.") for w in self.asked(1, "tallest", "tallest", "highest")),
            ("Which bar is the smallest?", f"The {least} bar is the smallest."), (r.choice(["How many bars are there?", "How many bars do you see?"]), f"There are {NUMBERS[count]} bars."),
            *((f"What is the color of the {w} bar?", f"The {w} bar is {c}.") for w, c in self.asked(1, ("smallest", least), ("shortest", least), ("tallest", best))),
            ("What is this?", f"This is a bar chart with {NUMBERS[count]} bars."), ("What is the color of the largest bar?", f"The largest bar is {best}.")]  # fmt: skip

    def places(self):
        """Two things, one beside or above the other."""
        r, (k1, k2) = self.r, self.r.sample(SHAPES, 2)
        c1 = self.color()
        c2, size1, size2 = self.color([c1]), r.uniform(24, 46), r.uniform(24, 46)
        beside, u, v = r.random() < 0.5, r.uniform(0.22, 0.3), r.uniform(0.7, 0.78)
        if r.random() < 0.5:
            u, v = v, u
        w = r.uniform(0.25, 0.75)
        at1, at2 = ((u, w), (v, w + r.uniform(-0.05, 0.05))) if beside else ((w, u), (w + r.uniform(-0.05, 0.05), v))
        self.put(k1, c1, at1[0] * SIDE, at1[1] * SIDE, size1)
        self.put(k2, c2, at2[0] * SIDE, at2[1] * SIDE, size2)
        flip = {"left of": "right of", "right of": "left of", "above": "below", "below": "above"}
        word = ("left of" if u < v else "right of") if beside else ("above" if u < v else "below")
        both, out = ((f"{c1} {k1}", k1), (f"{c2} {k2}", k2)), []
        for (n, k), (other, o), way in ((*both, word), (*both[::-1], flip[word])):
            is_there = f"he {n} is {way} the {other}."
            for q in (f"Where is the {k}?", f"Where is the {r.choice([k, n])}?", f"What is {way} the {o}?",
                r.choice([f"Which shape is {way} the {o}?", f"Which shape is {way} the {other}?", f"What do you see {way} the {o}?"]),
                r.choice([f"Is the {k} left or right of the {o}?" if beside else f"Is the {k} above or below the {o}?",
                    f"Tell me where the {k} is."])):  # fmt: skip
                out.append((q, "T" + is_there))
            asked = r.choice([way, flip[way]])
            out.append((f"Is the {k} {asked} the {o}?", ("Yes" if asked == way else "No") + ", t" + is_there))
        one, two = (n for n, _ in (both if u < v else both[::-1]))
        out += [(q, f"{a(one).capitalize()} and {a(two)} on {a(self.back)} background.") for q in self.asked(2, *DESCRIBE)]
        return [*out, (f"What color is the {k1}?", f"The {k1} is {c1}.")]

    def counted(self):
        """One to nine of one kind."""
        r, count, kind, color = self.r, self.r.randint(1, 9), self.r.choice(SHAPES), self.color()
        cells = r.sample([(i, j) for i in range(3) for j in range(3)], count)
        for i, j in cells:
            size = r.uniform(18, 30)
            self.put(kind, color, (i + 0.5) * SIDE / 3 + r.uniform(-8, 8), (j + 0.5) * SIDE / 3 + r.uniform(-8, 8), size)
        plural = "crosses" if kind == "cross" else kind + "s"
        text = f"There is one {kind}." if count == 1 else f"There are {NUMBERS[count]} {plural}."
        return [(f"How many {plural} are there?", text), (f"How many {plural} do you see?", text), (f"Count the {plural}.", text),
            (r.choice([f"How many {plural} can you see?", f"How many {plural} are in this picture?"]), text),
            (f"What color are the {plural}?", f"The {kind} is {color}." if count == 1 else f"The {plural} are {color}.")]  # fmt: skip


HELD_OUT = "scene scene sign sign thing chart places counted counted".split()
MAKERS = [*HELD_OUT, *HELD_OUT, *"places places places places scene scene".split()]  # more of what is hard


def draw(seed, makers=MAKERS):
    drawing = Drawing(random.Random(seed))
    kind = drawing.r.choice(makers)
    questions = getattr(drawing, kind)()
    return drawing.done(), drawing.labels, kind, questions


def several(job):
    first, count = job
    made = [draw(seed) for seed in range(first, first + count)]
    return np.stack([m[0] for m in made]), np.stack([m[1] for m in made]), [m[3] for m in made]


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("out")
    p.add_argument("--count", type=int, default=40_000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--workers", type=int, default=16)
    p.add_argument("--held-out", type=int)
    a = p.parse_args()
    if a.held_out:
        os.makedirs(a.out, exist_ok=True)
        with open(os.path.join(a.out, "questions.jsonl"), "w") as file:
            for i in range(a.held_out):
                pixels, _, kind, questions = draw(f"held out {a.seed} {i}", HELD_OUT)
                Image.fromarray(pixels).save(os.path.join(a.out, f"{i}.png"))
                q, answer = random.Random(i).choice(questions)
                file.write(json.dumps(dict(file=f"{i}.png", kind=kind, question=q, answer=answer)) + "\n")
        return
    each = 100
    jobs = [(a.seed * 10_000_000 + i * each, each) for i in range(a.count // each)]
    pixels = np.lib.format.open_memmap(a.out + ".npy.part", "w+", np.uint8, (len(jobs) * each, SIDE, SIDE, 3))
    labels = np.zeros((len(pixels), GRID, GRID, 2), np.uint8)
    with Pool(a.workers) as pool, open(a.out + ".jsonl", "w") as file:
        for i, (p, l, questions) in enumerate(pool.imap(several, jobs)):
            pixels[i * each : (i + 1) * each], labels[i * each : (i + 1) * each] = p, l
            file.writelines(json.dumps(q) + "\n" for q in questions)
    np.save(a.out + "-labels.npy", labels)
    pixels.flush()
    os.replace(a.out + ".npy.part", a.out + ".npy")
    print(f"{len(pixels)} pictures")


if __name__ == "__main__":
    main()
