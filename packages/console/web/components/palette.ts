import type { Theme } from '../state/theme.ts'

/** Places in the fixed order of series colours. */
export type SeriesSlot = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8

/** Shape at the end of a line and in legends, so that hue is never alone. */
export type Marker =
  | 'circle'
  | 'square'
  | 'triangle'
  | 'diamond'
  | 'cross'
  | 'open-circle'
  | 'open-square'
  | 'open-triangle'

/** Marker of each place. */
export const MARKERS: Readonly<Record<SeriesSlot, Marker>> = {
  1: 'circle',
  2: 'square',
  3: 'triangle',
  4: 'diamond',
  5: 'cross',
  6: 'open-circle',
  7: 'open-square',
  8: 'open-triangle',
}

/** Dash of each place, in CSS pixels; empty is solid. */
export const DASHES: Readonly<Record<SeriesSlot, readonly number[]>> = {
  1: [],
  2: [7, 3],
  3: [3, 3],
  4: [9, 3, 2, 3],
  5: [1.5, 2.5],
  6: [12, 4],
  7: [5, 2, 1, 2, 1, 2],
  8: [2, 4],
}

/** All places in their order. */
export const SLOTS: readonly SeriesSlot[] = [1, 2, 3, 4, 5, 6, 7, 8]

/** The colours that drawing on a canvas needs, resolved for the theme that is on. */
export interface Palette {
  readonly ink: string
  readonly ink2: string
  readonly ink3: string
  readonly grid: string
  readonly line: string
  readonly herd: string
  readonly gap: string
  readonly surface: string
  readonly critical: string
  /** Nothing counted, then the steps from little to most, as far from one another as the eye sees them. */
  readonly heat: readonly string[]
  /** Fills the span in which something held. */
  readonly eventTint: string
  readonly slots: Readonly<Record<SeriesSlot, string>>
  readonly texts: Readonly<Record<SeriesSlot, string>>
}

/** Steps of the scale of a heat strip above nothing. */
export const HEAT_STEP_COUNT = 15

const palettes = new Map<Theme, Palette>()

/** The palette of the theme that is drawn now. It is read once: each token costs a style of the whole page. */
export function paletteOf(theme: Theme): Palette {
  const known = palettes.get(theme)
  if (known !== undefined) return known
  const palette = readPalette()
  palettes.set(theme, palette)
  return palette
}

function readPalette(): Palette {
  let heat: readonly string[] | undefined
  return withProbe((resolve) => {
    const read = (token: string, fallback?: string): string =>
      resolve(fallback ? `var(--${token}, var(--${fallback}))` : `var(--${token})`)
    const each = (of: (slot: SeriesSlot) => string): Record<SeriesSlot, string> =>
      Object.fromEntries(SLOTS.map((slot) => [slot, of(slot)])) as Record<SeriesSlot, string>
    return {
      ink: read('ink'),
      ink2: read('ink-2'),
      ink3: read('ink-3'),
      grid: read('grid'),
      line: read('line'),
      herd: read('herd'),
      gap: read('gap'),
      surface: read('surface'),
      critical: read('critical'),
      // Few pages have a heat strip.
      get heat() {
        heat ??= withProbe(heatColours)
        return heat
      },
      eventTint: read('event-tint'),
      slots: each((slot) => read(`s${slot}`)),
      texts: each((slot) => read(`s${slot}-text`, `s${slot}`)),
    }
  })
}

function heatColours(resolve: (colour: string) => string): readonly string[] {
  const steps = Array.from({ length: HEAT_STEP_COUNT }, (_, step) => {
    const share = (100 * step) / (HEAT_STEP_COUNT - 1)
    return resolve(`color-mix(in oklab, var(--heat-high) ${share}%, var(--heat-low))`)
  })
  return [resolve('var(--heat-none)'), ...steps]
}

/** Resolves colours through an element, because the value of a custom property is not resolved by itself. */
function withProbe<T>(work: (resolve: (colour: string) => string) => T): T {
  const probe = document.createElement('span')
  probe.hidden = true
  // Else a system with colours of its own resolves each to that of its words, without its share of transparency.
  probe.style.setProperty('forced-color-adjust', 'none')
  document.body.append(probe)
  const result = work((colour) => {
    probe.style.color = colour
    return getComputedStyle(probe).color
  })
  probe.remove()
  return result
}
