import { traceLine } from '../components/trace.ts'
import { shapeOf } from './geometry.ts'
import { type DrawnLines, kept, type LineBox, linesGeometry, type Moved, movedBy } from './moved-lines.ts'
import { isInLayer, type PlotModel } from './plot-model.ts'

/** Samples that are traced again before the first that is new: they share its pixel, or a line comes from them. */
const BEFORE_COUNT = 2
/** The same, in canvas pixels. */
const BEFORE_PX = 3

/**
 * The grey lines of a plot, kept between drawings. A live window moves by whole pixels, so the old drawing is shifted
 * and only new samples are traced. Tracing a hundred lines anew would take a twentieth of every second.
 */
export class LineLayer {
  readonly #canvas = document.createElement('canvas')
  readonly #context = this.#canvas.getContext('2d')
  #shown: DrawnLines | undefined

  /** Brings the layer up to date and draws it onto the canvas of a plot. */
  drawOnto(target: CanvasRenderingContext2D, model: PlotModel, box: LineBox, colour: string): void {
    const lines = model.lines.filter((line) => isInLayer(model, line))
    const { width, height } = box
    if (!this.#context || lines.length === 0 || width <= 0 || height <= 0) return
    const next: DrawnLines = { model, lines, box, colour }
    const moved = this.#shown && movedBy(this.#shown, next)
    if (moved === undefined) this.#begin(next)
    else this.#move(next, moved)
    this.#shown = kept(next, this.#shown)
    target.drawImage(this.#canvas, box.left, box.top)
  }

  #begin(next: DrawnLines): void {
    // Setting a size clears the canvas.
    this.#canvas.width = next.box.width
    this.#canvas.height = next.box.height
    this.#trace(next, 0, 0)
  }

  #move(next: DrawnLines, { byPx, fromSample }: Moved): void {
    const context = this.#context!
    const { width, height } = next.box
    const { left, perSample } = linesGeometry(next)
    const first = Math.max(0, fromSample - BEFORE_COUNT)
    const fromPx = Math.max(0, Math.min(width, Math.floor(left + first * perSample) - 1))
    if (byPx > 0) {
      context.globalCompositeOperation = 'copy'
      context.drawImage(this.#canvas, -byPx, 0)
      context.globalCompositeOperation = 'source-over'
    }
    context.clearRect(fromPx, 0, width - fromPx, height)
    this.#trace(next, fromPx, Math.max(0, first - BEFORE_COUNT - Math.ceil(BEFORE_PX / perSample)))
  }

  /** Traces the lines from a sample on, right of a pixel. */
  #trace(shown: DrawnLines, fromPx: number, fromSample: number): void {
    const context = this.#context!
    const { model, lines, box, colour } = shown
    const { times, stepMs, fromMs, toMs } = model
    const start = times[0] ?? toMs
    const first = Math.max(fromSample, Math.floor((fromMs - start) / stepMs))
    const last = Math.min(times.length - 1, Math.ceil((toMs - start) / stepMs))
    const geometry = linesGeometry(shown)
    context.save()
    context.beginPath()
    context.rect(fromPx, 0, box.width - fromPx, box.height)
    context.clip()
    context.lineJoin = 'round'
    context.strokeStyle = colour
    for (const { heights, widthPx } of lines) {
      const path = new Path2D()
      traceLine(path, heights, Math.max(0, first), last, geometry, shapeOf(geometry))
      context.lineWidth = widthPx * box.unit
      context.stroke(path)
    }
    context.restore()
  }
}
