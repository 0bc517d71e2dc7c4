/** A search hit, with the words that were found set apart. \u0001 and \u0002 stand around them. */
export function Snippet({ text }: { text: string }) {
  const pieces = text
    .replace(/\s+/g, " ")
    .split("\u0001")
    .flatMap((piece, index) => {
      if (index === 0) return [{ text: piece, found: false }];
      const [found = "", rest = ""] = piece.split("\u0002");
      return [
        { text: found, found: true },
        { text: rest, found: false },
      ];
    });
  return (
    <span className="line-clamp-2 text-xs text-soft">
      {pieces.map((piece, index) =>
        piece.found ? (
          <mark key={index} className="bg-tint font-medium text-ink">
            {piece.text}
          </mark>
        ) : (
          <span key={index}>{piece.text}</span>
        ),
      )}
    </span>
  );
}
