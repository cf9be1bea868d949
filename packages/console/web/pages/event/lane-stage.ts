import type { Palette } from '../../components/palette.ts'
import { createStore, type Store } from '../../state/store.ts'
import type { Span } from './view-span.ts'

/** A canvas that draws what is in view. */
export interface Painter {
  readonly paint: (view: Span, palette: Palette) => void
  /** Whether it is on the screen, or close to it. */
  readonly isSeen: () => boolean
}

/**
 * What all lanes of an event share: the stretch in view, and one frame in which all that is seen is drawn. A drag moves
 * sixty lanes; none of them goes through the tree of components for it.
 */
export class LaneStage {
  /** The stretch in view. */
  readonly view: Store<Span>
  readonly #painters = new Set<Painter>()
  #palette: Palette | undefined
  #frame = 0

  constructor(view: Span) {
    this.view = createStore(view)
    this.view.subscribe(() => this.paintSoon())
  }

  /** Takes the colours of the theme. */
  set palette(palette: Palette | undefined) {
    if (palette === this.#palette) return
    this.#palette = palette
    this.paintSoon()
  }

  /** Adds a canvas; what comes back takes it away. */
  add(painter: Painter): () => void {
    this.#painters.add(painter)
    this.paintSoon()
    return () => void this.#painters.delete(painter)
  }

  /** Draws what is seen in the next frame, once. */
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
