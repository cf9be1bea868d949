import type uPlot from 'uplot'
import type { Palette } from '../components/palette.ts'
import { formatClock } from '../format/time.ts'
import { timeLabelSpans, widthOf } from './axes.ts'
import type { PlotModel } from './plot-model.ts'

/** Most points on the crosshair. */
const MARK_LIMIT_COUNT = 8
/** Half of a point's width. Unit: CSS pixels. */
const MARK_HALF_PX = 5
/** How far the time may reach beyond the plotting area. Unit: CSS pixels. */
const CHIP_BEYOND_PX = 8

/** What stands at the cursor beside the line of the plot library: the time on the axis, and a point on each line. */
export class Crosshair {
  readonly #over: HTMLElement
  readonly #chip: HTMLElement
  /** Points by the order of their line. */
  readonly #marks = new Map<number, HTMLElement>()
  #measuredLength = 0
  #measuredPx = 0

  constructor(over: HTMLElement) {
    this.#over = over
    this.#chip = document.createElement('div')
    this.#chip.className = 'chart-chip'
    this.#chip.hidden = true
    over.append(this.#chip)
  }

  /** Takes it away. */
  hide(): void {
    this.#chip.hidden = true
    for (const mark of this.#marks.values()) mark.hidden = true
  }

  /** Puts it at a time. */
  show(timeMs: number, plot: uPlot, model: PlotModel, palette: Palette): void {
    this.hide()
    const { times, lines, zone, stepMs } = model
    const left = plot.valToPos(timeMs, 'x')
    this.#chip.hidden = false
    this.#chip.textContent = formatClock(timeMs, zone, stepMs < 1000 ? 'milliseconds' : 'seconds')
    const widthPx = this.#chipWidth()
    const most = widthOf(plot) - widthPx + CHIP_BEYOND_PX
    const fromPx = Math.round(Math.max(0, Math.min(most, left - widthPx / 2)))
    this.#chip.style.transform = `translateX(${fromPx}px)`
    this.#hideLabels(plot, model, fromPx, fromPx + widthPx)
    const at = Math.round((timeMs - (times[0] ?? 0)) / stepMs)
    lines.slice(0, MARK_LIMIT_COUNT).forEach((line, order) => {
      const height = line.heights[at]
      if (height === undefined || Number.isNaN(height)) return
      const mark = this.#mark(order)
      mark.hidden = false
      mark.style.borderColor = line.slot ? palette.slots[line.slot] : palette.herd
      const top = plot.valToPos(height, 'y') - MARK_HALF_PX
      mark.style.transform = `translate(${left - MARK_HALF_PX}px, ${top}px)`
    })
  }

  /** A label of the axis that is covered in part is hidden as a whole: a cut time is another time. */
  #hideLabels(plot: uPlot, model: PlotModel, fromPx: number, toPx: number): void {
    const covered = timeLabelSpans(plot, model).filter((label) => label.fromPx < toPx && label.toPx > fromPx)
    const leftPx = Math.max(0, ...covered.map((label) => fromPx - label.fromPx))
    const rightPx = Math.max(0, ...covered.map((label) => label.toPx - toPx))
    this.#chip.style.setProperty('--left', `${-Math.ceil(leftPx)}px`)
    this.#chip.style.setProperty('--right', `${-Math.ceil(rightPx)}px`)
  }

  /** Figures are as wide as each other, so that a time is measured once and the page is not laid out for each. */
  #chipWidth(): number {
    const { length } = this.#chip.textContent ?? ''
    if (length !== this.#measuredLength) {
      this.#measuredLength = length
      this.#measuredPx = this.#chip.offsetWidth
    }
    return this.#measuredPx
  }

  #mark(order: number): HTMLElement {
    const existing = this.#marks.get(order)
    if (existing) return existing
    const mark = document.createElement('div')
    mark.className = 'chart-mark'
    this.#over.append(mark)
    this.#marks.set(order, mark)
    return mark
  }
}
