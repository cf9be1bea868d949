import uPlot from 'uplot'
import type { Palette } from '../components/palette.ts'
import { formatIn, joinUnit } from '../format/number.ts'
import { formatClock } from '../format/time.ts'
import { timeLabelSpans, widthOf } from './axes.ts'
import type { HeatScale, PlotModel } from './plot-model.ts'

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
  /** What a bin of a heat strip holds, beside the pointer. */
  readonly #tip: HTMLElement
  /** Points by the order of their line. */
  readonly #marks = new Map<number, HTMLElement>()
  #measuredLength = 0
  #measuredPx = 0

  constructor(over: HTMLElement) {
    this.#over = over
    this.#chip = document.createElement('div')
    this.#chip.className = 'chart-chip'
    this.#chip.hidden = true
    this.#tip = document.createElement('div')
    this.#tip.className = 'chart-tip'
    this.#tip.hidden = true
    over.append(this.#chip, this.#tip)
  }

  /** Takes it away. */
  hide(): void {
    this.#chip.hidden = true
    this.#tip.hidden = true
    for (const mark of this.#marks.values()) mark.hidden = true
  }

  /** Puts it at a time; `pointerTop` is where the pointer is over this plot, if it is. Unit: CSS pixels. */
  show(timeMs: number, plot: uPlot, model: PlotModel, palette: Palette, pointerTop: number | undefined): void {
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
    if (model.heat) {
      if (pointerTop !== undefined) this.#showBin(plot, model.heat, lines, at, { left, top: pointerTop })
      return
    }
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

  /** Shows the bin under the pointer, and its content. */
  #showBin(
    plot: uPlot,
    { unit }: HeatScale,
    lines: PlotModel['lines'],
    at: number,
    pointer: { left: number; top: number },
  ) {
    const fromFoot = 1 - pointer.top / (plot.bbox.height / uPlot.pxRatio)
    const line = lines[Math.max(0, Math.min(lines.length - 1, Math.floor(fromFoot * lines.length)))]
    if (!line) return
    const value = line.values[at] ?? Number.NaN
    const words = Number.isNaN(value) ? 'no sample' : joinUnit(formatIn(unit, value), unit.label)
    this.#tip.hidden = false
    this.#tip.textContent = `${line.label}: ${words}`
    const beside = pointer.left < widthOf(plot) / 2 ? '10px' : 'calc(-100% - 10px)'
    this.#tip.style.transform = `translate(${Math.round(pointer.left)}px, ${Math.round(pointer.top)}px) translate(${beside}, -50%)`
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
