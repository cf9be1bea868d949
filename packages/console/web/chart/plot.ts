import uPlot from 'uplot'
import type { Palette } from '../components/palette.ts'
import { axesOf, drawMinorTicks, widthOf } from './axes.ts'
import { Crosshair } from './crosshair.ts'
import { drawDecorations } from './decorations.ts'
import { drawHeat } from './heat-cells.ts'
import { drawEnds, endRoom } from './line-ends.ts'
import { LineLayer } from './line-layer.ts'
import { plotSeries } from './lines.ts'
import { dataOf, isAsDrawn, type PlotModel, shapeOf } from './plot-model.ts'
import { DRAG_MIN_PX, hoveredTime, takeDragged } from './pointer.ts'
import { snapSpan } from './scale.ts'

/** What the plot reports. */
export interface PlotHandlers {
  /** The pointer stands at a time, or left. */
  readonly onHover: (timeMs: number | null) => void
  readonly onClick: (timeMs: number) => void
  readonly onZoom: (fromMs: number, toMs: number) => void
}

/** Outer size of a plot. Unit: CSS pixels. */
interface Size {
  readonly width: number
  readonly height: number
}

const TOP_PX = 8

/** Draws one chart with uPlot, and keeps it drawn while its model changes. */
export class Plot {
  readonly #host: HTMLElement
  readonly #handlers: PlotHandlers
  #palette: Palette
  #model: PlotModel
  #drawn: PlotModel
  #plot: uPlot
  #crosshair: Crosshair
  readonly #layer = new LineLayer()
  #shape: string
  #cursorMs: number | null = null
  #isCursorShown = false
  #isSettingCursor = false
  /** Where the pointer is over this plot, from its top; undefined if it is not. Unit: CSS pixels. */
  #pointerTop: number | undefined

  constructor(host: HTMLElement, size: Size, model: PlotModel, palette: Palette, handlers: PlotHandlers) {
    this.#host = host
    this.#handlers = handlers
    this.#palette = palette
    this.#model = model
    this.#drawn = model
    this.#shape = shapeOf(model)
    this.#plot = this.#create(size)
    this.#crosshair = new Crosshair(this.#plot.over)
  }

  /** Draws a new state of the model. Only a change of the set of lines costs more than drawing. */
  draw(model: PlotModel, size: Size, palette: Palette): void {
    const shape = shapeOf(model)
    const isSame = shape === this.#shape && palette === this.#palette
    const isSized = this.#plot.width === size.width && this.#plot.height === size.height
    const before = this.#drawn
    // What the plot was made with is drawn already.
    if (isSame && isSized && model === before) return
    const widthPx = widthOf(this.#plot)
    // A live plot moves by whole pixels, so that the old drawing stays sharp.
    this.#model = model.isLive ? { ...model, ...snapSpan(model, widthPx) } : model
    if (isSame && isSized && isAsDrawn(before, this.#model, widthPx)) {
      this.showCursor(this.#cursorMs)
      return
    }
    this.#drawn = this.#model
    this.#palette = palette
    this.#shape = shape
    if (isSame) this.#redraw(size, isSized ? 'same size' : 'new size')
    else {
      this.#plot.destroy()
      this.#plot = this.#create(size)
      this.#crosshair = new Crosshair(this.#plot.over)
      this.#isCursorShown = false
    }
    this.showCursor(this.#cursorMs)
  }

  /** Puts the crosshair, its time chip and its points at a time; null takes them away. */
  showCursor(timeMs: number | null): void {
    this.#cursorMs = timeMs
    const { fromMs, toMs } = this.#model
    const isInside = timeMs !== null && timeMs >= fromMs && timeMs <= toMs
    // Most drawings of a live page have no cursor, before and after.
    if (!isInside && !this.#isCursorShown) return
    this.#isCursorShown = isInside
    const left = isInside ? this.#plot.valToPos(timeMs, 'x') : -10
    this.#isSettingCursor = true
    this.#plot.setCursor({ left, top: isInside ? 1 : -10 }, false)
    this.#isSettingCursor = false
    if (isInside) this.#crosshair.show(timeMs, this.#plot, this.#model, this.#palette, this.#pointerTop)
    else this.#crosshair.hide()
  }

  /** The plotting area inside the host, in CSS pixels. */
  get area(): { readonly left: number; readonly top: number; readonly width: number; readonly height: number } {
    const { over } = this.#plot
    return { left: over.offsetLeft, top: over.offsetTop, width: over.clientWidth, height: over.clientHeight }
  }

  /** Where a time lies, in CSS pixels from the left of the plotting area. */
  positionOf(timeMs: number): number {
    return this.#plot.valToPos(timeMs, 'x')
  }

  /** Makes a picture of the current drawing. */
  picture(
    make: (canvas: HTMLCanvasElement, drawn: PlotModel, palette: Palette) => HTMLCanvasElement,
  ): HTMLCanvasElement {
    return make(this.#plot.ctx.canvas, this.#drawn, this.#palette)
  }

  destroy(): void {
    this.#plot.destroy()
  }

  #redraw(size: Size, change: 'same size' | 'new size'): void {
    const { bottom, top, fromMs, toMs } = this.#model
    if (change === 'new size') this.#plot.setSize(size)
    // A pointer that rests stays at its time, not at its pixel: what it reads does not change under it.
    this.#isSettingCursor = true
    this.#plot.batch(() => {
      this.#plot.setData(dataOf(this.#model), false)
      this.#plot.setScale('y', { min: bottom, max: top })
      this.#plot.setScale('x', { min: fromMs, max: toMs })
    })
    this.#isSettingCursor = false
  }

  #create(size: Size): uPlot {
    const plot = new uPlot(this.#options(size), dataOf(this.#model), this.#host)
    plot.over.addEventListener('click', () => {
      if (this.#cursorMs !== null) this.#handlers.onClick(this.#cursorMs)
    })
    const point = (top: number | undefined) => {
      this.#pointerTop = top
      if (this.#model.heat) this.showCursor(this.#cursorMs)
    }
    plot.over.addEventListener('mousemove', ({ offsetY }) => point(offsetY))
    plot.over.addEventListener('mouseleave', () => point(undefined))
    return plot
  }

  #options(size: Size): uPlot.Options {
    const drawn = { model: () => this.#model, palette: () => this.#palette }
    const { model } = drawn
    return {
      ...size,
      ms: 1,
      legend: { show: false },
      padding: [TOP_PX, (plot) => endRoom(model(), plot.width), 0, 0],
      scales: {
        x: { auto: false, range: () => [model().fromMs, model().toMs] },
        y: { auto: false, range: () => [model().bottom, model().top] },
      },
      series: [{}, ...plotSeries(drawn)],
      axes: axesOf(drawn),
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: DRAG_MIN_PX },
        bind: { dblclick: () => null },
      },
      hooks: {
        drawAxes: [
          (plot) => {
            drawHeat(plot.ctx, model(), { ...plot.bbox, unit: uPlot.pxRatio }, this.#palette)
            drawMinorTicks(plot, model(), this.#palette)
            drawDecorations(plot, model(), this.#palette)
            this.#layer.drawOnto(plot.ctx, model(), { ...plot.bbox, unit: uPlot.pxRatio }, this.#palette.herd)
          },
        ],
        draw: [(plot) => drawEnds(plot, model(), this.#palette)],
        setCursor: [
          (plot) => {
            if (!this.#isSettingCursor) this.#handlers.onHover(hoveredTime(plot, model()))
          },
        ],
        setSelect: [
          (plot) => {
            const span = takeDragged(plot)
            if (span) this.#handlers.onZoom(span.fromMs, span.toMs)
          },
        ],
      },
    }
  }
}
