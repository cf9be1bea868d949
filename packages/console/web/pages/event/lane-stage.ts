import type { Palette } from '../../components/palette.ts'
import { createValueStore, type ValueStore } from '../../state/value-store.ts'
import type { Span } from './view-span.ts'

/** A canvas that draws the view. */
export interface Painter {
  readonly paint: (view: Span, palette: Palette) => void
  /** Whether the canvas is on the screen or close to it. */
  readonly isSeen: () => boolean
}

/**
 * The view that all lanes of an event share, and the frame that paints the visible lanes. A drag may move sixty lanes,
 * so painting bypasses the component tree.
 */
export class LaneStage {
  /** The span in view. */
  readonly view: ValueStore<Span>
  readonly #painters = new Set<Painter>()
  #palette: Palette | undefined
  #frame = 0

  constructor(view: Span) {
    this.view = createValueStore(view)
    this.view.subscribe(() => this.paintSoon())
  }

  /** Sets the colours of the theme. */
  set palette(palette: Palette | undefined) {
    if (palette === this.#palette) return
    this.#palette = palette
    this.paintSoon()
  }

  /** Adds a canvas. Returns a function that removes it. */
  add(painter: Painter): () => void {
    this.#painters.add(painter)
    this.paintSoon()
    return () => void this.#painters.delete(painter)
  }

  /** Paints the visible canvases once in the next frame. */
  paintSoon(): void {
    if (this.#frame !== 0) return
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0
      const palette = this.#palette
      if (!palette) return
      const view = this.view.get()
      for (const painter of this.#painters) if (painter.isSeen()) painter.paint(view, palette)
    })
  }

  close(): void {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
    this.#painters.clear()
  }
}
