/** A place for a card, in CSS pixels inside the plotting area. */
export interface CardPlace {
  readonly left: number
  readonly top: number
}

/**
 * Finds the corner beside the cursor where a card covers the fewest marks.
 *
 * `marks` are points of the drawn lines; the card stays inside `area` and never lies on the cursor itself.
 */
export function placeCard(
  card: { readonly width: number; readonly height: number },
  area: { readonly width: number; readonly height: number },
  cursorX: number,
  marks: readonly { readonly x: number; readonly y: number }[],
): CardPlace {
  const gap = 12
  const lefts = [cursorX + gap, cursorX - gap - card.width].filter(
    (left) => left >= 0 && left + card.width <= area.width,
  )
  if (lefts.length === 0) lefts.push(Math.max(0, Math.min(area.width - card.width, cursorX + gap)))
  const tops = [4, Math.max(4, area.height - card.height - 4)]
  let best: CardPlace = { left: lefts[0]!, top: tops[0]! }
  let fewest = Number.POSITIVE_INFINITY
  for (const left of lefts) {
    for (const top of tops) {
      const covered = marks.filter(
        ({ x, y }) => x >= left && x <= left + card.width && y >= top && y <= top + card.height,
      ).length
      if (covered < fewest) {
        fewest = covered
        best = { left, top }
      }
    }
  }
  return best
}
