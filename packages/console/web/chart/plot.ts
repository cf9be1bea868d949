import uPlot from 'uplot'
import { type DisplayUnit, formatAxis } from '../format/number.ts'
import { formatClock, type TimeZoneChoice } from '../format/time.ts'
import { type Decorations, drawDecorations, drawEnds, endWidth } from './decorations.ts'
import { DASHES, type Marker, type Palette, type SeriesSlot } from './palette.ts'
import { labelStep, minorStep, snapSpan, timeTicks } from './scale.ts'
import { type Geometry, traceBand, traceLine } from './trace.ts'

/** One line as it is drawn. `slot` undefined is the grey of the herd. */
export interface PlotLine {
  readonly key: string
  readonly label: string
  readonly values: Float64Array
  readonly slot: SeriesSlot | undefined
  /** Whether the line is drawn with its place's dash; a lone series is solid. */
  readonly dashed: boolean
  readonly marker: Marker | undefined
  readonly widthPx: number
}

/** Everything that a plot draws. */
export interface PlotModel extends Decorations {
  readonly times: Float64Array
  readonly stepMs: number
  readonly lines: readonly PlotLine[]
  readonly band: { readonly low: Float64Array; readonly high: Float64Array } | undefined
  readonly fromMs: number
  readonly toMs: number
  readonly bottom: number
  readonly top: number
  readonly unit: DisplayUnit
  readonly zone: TimeZoneChoice
}

/** What the plot reports. */
export interface PlotHandlers {
  /** The pointer stands at a time, or left. */
  readonly onHover: (timeMs: number | null) => void
  readonly onClick: (timeMs: number) => void
  readonly onZoom: (fromMs: number, toMs: number) => void
}

const AXIS_FONT = '11px "Inter Variable", system-ui, sans-serif'
const X_AXIS_PX = 24
const TOP_PX = 8
const Y_AXIS_PX = 36

/** Draws one chart with uPlot. The series carry their own path builders: they keep gaps and never lose a peak. */
export class Plot {
  readonly #host: HTMLElement
  readonly #handlers: PlotHandlers
  #palette: Palette
  #model: PlotModel
  #drawn: PlotModel
  #plot: uPlot
  #shape: string
  /** Points on the crosshair, by the order of their line. */
  readonly #marks = new Map<number, HTMLElement>()
  #chip: HTMLElement
  #cursorMs: number | null = null
  #isSettingCursor = false

  constructor(
    host: HTMLElement,
    size: { readonly width: number; readonly height: number },
    model: PlotModel,
    palette: Palette,
    handlers: PlotHandlers,
  ) {
    this.#host = host
    this.#handlers = handlers
    this.#palette = palette
    this.#model = model
    this.#drawn = model
    this.#shape = shapeOf(model)
    this.#chip = document.createElement('div')
    this.#chip.className = 'chart-chip'
    this.#plot = this.#create(size)
  }

  /** Draws a new state of the model. Only a change of the set of lines costs more than drawing. */
  draw(model: PlotModel, size: { readonly width: number; readonly height: number }, palette: Palette): void {
    const shape = shapeOf(model)
    const isSame = shape === this.#shape && palette === this.#palette
    const isSized = this.#plot.width === size.width && this.#plot.height === size.height
    const before = this.#drawn
    // What the plot was made with is drawn already.
    if (isSame && isSized && model === before) return
    // Live moves in whole pixels, so that what was drawn before stays sharp and in its place.
    this.#model = model.isLive ? { ...model, ...snapSpan(model, this.#widthPx) } : model
    if (isSame && isSized && isAsDrawn(before, this.#model, this.#widthPx)) {
      this.showCursor(this.#cursorMs)
      return
    }
    this.#drawn = this.#model
    this.#palette = palette
    this.#shape = shape
    if (!isSame) {
      this.#plot.destroy()
      this.#marks.clear()
      this.#plot = this.#create(size)
    } else {
      if (!isSized) this.#plot.setSize(size)
      // A pointer that rests stays at its time, not at its pixel: what it reads does not change under it.
      this.#isSettingCursor = true
      this.#plot.batch(() => {
        this.#plot.setData(dataOf(model), false)
        this.#plot.setScale('y', { min: model.bottom, max: model.top })
        this.#plot.setScale('x', { min: this.#model.fromMs, max: this.#model.toMs })
      })
      this.#isSettingCursor = false
    }
    this.showCursor(this.#cursorMs)
  }

  /** Puts the crosshair, its time chip and its points at a time; null takes them away. */
  showCursor(timeMs: number | null): void {
    this.#cursorMs = timeMs
    const plot = this.#plot
    const { fromMs, toMs, times, lines, zone, stepMs } = this.#model
    const isInside = timeMs !== null && timeMs >= fromMs && timeMs <= toMs
    const left = isInside ? plot.valToPos(timeMs, 'x') : -10
    this.#isSettingCursor = true
    plot.setCursor({ left, top: isInside ? 1 : -10 }, false)
    this.#isSettingCursor = false
    this.#chip.hidden = !isInside
    for (const mark of this.#marks.values()) mark.hidden = true
    if (!isInside) return
    this.#chip.textContent = formatClock(timeMs, zone, stepMs < 1000 ? 'milliseconds' : 'seconds')
    const widthPx = plot.over.clientWidth
    const halfPx = this.#chip.offsetWidth / 2
    const chipLeft = Math.max(halfPx, Math.min(widthPx - halfPx + 8, left))
    this.#chip.style.transform = `translateX(${Math.round(chipLeft - halfPx)}px)`
    const at = Math.round((timeMs - (times[0] ?? 0)) / stepMs)
    lines.slice(0, 8).forEach((line, order) => {
      const value = line.values[at]
      if (value === undefined || Number.isNaN(value)) return
      const mark = this.#mark(order)
      mark.hidden = false
      mark.style.borderColor = line.slot ? this.#palette.slots[line.slot] : this.#palette.herd
      mark.style.transform = `translate(${left - 5}px, ${plot.valToPos(value, 'y') - 5}px)`
    })
  }

  /** The plotting area inside the host, in CSS pixels. */
  get area(): { readonly left: number; readonly top: number; readonly width: number; readonly height: number } {
    const { over } = this.#plot
    return { left: over.offsetLeft, top: over.offsetTop, width: over.clientWidth, height: over.clientHeight }
  }

  /** Width of the plotting area in CSS pixels. What uPlot knows; asking the document would lay it out in the middle of an update. */
  get #widthPx(): number {
    return this.#plot.bbox.width / uPlot.pxRatio
  }

  /** Where a time lies, in CSS pixels from the left of the plotting area. */
  positionOf(timeMs: number): number {
    return this.#plot.valToPos(timeMs, 'x')
  }

  /** Makes a picture of what is drawn now. */
  picture(
    make: (canvas: HTMLCanvasElement, drawn: PlotModel, palette: Palette) => HTMLCanvasElement,
  ): HTMLCanvasElement {
    return make(this.#plot.ctx.canvas, this.#drawn, this.#palette)
  }

  destroy(): void {
    this.#plot.destroy()
  }

  #mark(order: number): HTMLElement {
    const existing = this.#marks.get(order)
    if (existing) return existing
    const mark = document.createElement('div')
    mark.className = 'chart-mark'
    this.#plot.over.append(mark)
    this.#marks.set(order, mark)
    return mark
  }

  #create(size: { readonly width: number; readonly height: number }): uPlot {
    const plot = new uPlot(this.#options(size), dataOf(this.#model), this.#host)
    plot.over.append(this.#chip)
    plot.over.addEventListener('click', () => {
      if (this.#cursorMs !== null) this.#handlers.onClick(this.#cursorMs)
    })
    return plot
  }

  #options(size: { readonly width: number; readonly height: number }): uPlot.Options {
    const model = (): PlotModel => this.#model
    return {
      ...size,
      ms: 1,
      legend: { show: false },
      padding: [TOP_PX, () => endWidth(this.#model.lines, this.#model.bandLabel), 0, 0],
      scales: {
        x: { auto: false, range: () => [model().fromMs, model().toMs] },
        y: { auto: false, range: () => [model().bottom, model().top] },
      },
      series: [{}, ...this.#series()],
      axes: this.#axes(),
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 6 },
        bind: { dblclick: () => null },
      },
      hooks: {
        drawAxes: [
          (plot) => {
            this.#minorTicks(plot)
            drawDecorations(plot, this.#model, this.#palette)
          },
        ],
        draw: [(plot) => drawEnds(plot, this.#model, this.#palette)],
        setCursor: [(plot) => this.#hovered(plot)],
        setSelect: [(plot) => this.#selected(plot)],
      },
    }
  }

  #series(): uPlot.Series[] {
    const { lines, band } = this.#model
    const quiet = { auto: false, points: { show: false } }
    const bands: uPlot.Series[] = band
      ? [
          {
            ...quiet,
            width: 0,
            fill: () => translucent(this.#palette.herd),
            paths: (plot, _series, from, to) => this.#band(plot, from, to),
          },
        ]
      : []
    return [
      ...bands,
      ...lines.map(
        (line, order): uPlot.Series => ({
          ...quiet,
          width: line.widthPx,
          stroke: () => (line.slot ? this.#palette.slots[line.slot] : this.#palette.herd),
          ...(line.dashed && line.slot ? { dash: [...DASHES[line.slot]] } : {}),
          cap: 'butt',
          paths: (plot, _series, from, to) => this.#line(plot, order, from, to),
        }),
      ),
    ]
  }

  #axes(): uPlot.Axis[] {
    const stroke = (): string => this.#palette.ink3
    return [
      {
        font: AXIS_FONT,
        stroke,
        size: X_AXIS_PX,
        gap: 3,
        grid: { show: false },
        ticks: { stroke: () => this.#palette.line, size: 4, width: 1 },
        splits: (plot) => this.#timeSplits(plot),
        values: (_plot, splits) => splits.map((at) => this.#timeLabel(at)),
      },
      {
        font: AXIS_FONT,
        stroke,
        size: Y_AXIS_PX,
        gap: 6,
        grid: { stroke: () => this.#palette.grid, width: 1 },
        ticks: { show: false },
        splits: () => [this.#model.bottom, (this.#model.bottom + this.#model.top) / 2, this.#model.top],
        values: (_plot, splits) => splits.map((at) => formatAxis(this.#model.unit, at)),
      },
    ]
  }

  #labelStep(): number {
    const widthPx = (this.#plot && this.#widthPx) || 300
    return labelStep(this.#model.toMs - this.#model.fromMs, widthPx)
  }

  #timeSplits(_plot: uPlot): number[] {
    const { fromMs, toMs, zone } = this.#model
    const offsetMs = zone === 'local' ? -new Date(toMs).getTimezoneOffset() * 60_000 : 0
    return timeTicks(fromMs, toMs, this.#labelStep(), offsetMs)
  }

  #minorTicks(plot: uPlot): void {
    const stepMs = minorStep(this.#labelStep())
    if (stepMs === undefined) return
    const { ctx: context, bbox } = plot
    const unit = uPlot.pxRatio
    context.save()
    context.strokeStyle = this.#palette.line
    context.lineWidth = unit
    context.beginPath()
    for (const at of timeTicks(this.#model.fromMs, this.#model.toMs, stepMs)) {
      const x = Math.round(plot.valToPos(at, 'x', true)) + unit / 2
      context.moveTo(x, bbox.top + bbox.height)
      context.lineTo(x, bbox.top + bbox.height + 3 * unit)
    }
    context.stroke()
    context.restore()
  }

  #timeLabel(at: number): string {
    const stepMs = this.#labelStep()
    return formatClock(at, this.#model.zone, stepMs >= 60_000 ? 'minutes' : stepMs >= 1000 ? 'seconds' : 'milliseconds')
  }

  #geometry(plot: uPlot): Geometry {
    const { times, stepMs, bottom, top, fromMs, toMs } = this.#model
    const { left, width, top: boxTop, height } = plot.bbox
    const perMs = width / (toMs - fromMs)
    const perUnit = height / (top - bottom || 1)
    return {
      left: left + ((times[0] ?? fromMs) - fromMs) * perMs,
      perSample: stepMs * perMs,
      zero: boxTop + height + bottom * perUnit,
      perUnit,
    }
  }

  #line(plot: uPlot, order: number, from: number, to: number): uPlot.Series.Paths {
    const stroke = new Path2D()
    const geometry = this.#geometry(plot)
    traceLine(stroke, this.#model.lines[order]!.values, from, to, geometry, this.#stepShape(geometry))
    return { stroke }
  }

  #band(plot: uPlot, from: number, to: number): uPlot.Series.Paths {
    const fill = new Path2D()
    const { band } = this.#model
    const geometry = this.#geometry(plot)
    if (band) traceBand(fill, band.low, band.high, from, to, geometry, this.#stepShape(geometry))
    return { fill }
  }

  #stepShape(geometry: Geometry): 'line' | 'steps' {
    return geometry.perSample > 4 * uPlot.pxRatio ? 'steps' : 'line'
  }

  #hovered(plot: uPlot): void {
    if (this.#isSettingCursor) return
    const { left, idx } = plot.cursor
    if (left === undefined || left < 0) this.#handlers.onHover(null)
    else {
      const { times, stepMs } = this.#model
      const timeMs = plot.posToVal(left, 'x')
      const snapped = Math.round(timeMs / stepMs) * stepMs
      const newest = times[times.length - 1]
      this.#handlers.onHover(idx === null || newest === undefined ? timeMs : Math.min(snapped, newest))
    }
  }

  #selected(plot: uPlot): void {
    const { left, width } = plot.select
    if (width < 6) return
    const fromMs = plot.posToVal(left, 'x')
    const toMs = plot.posToVal(left + width, 'x')
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
    this.#handlers.onZoom(fromMs, toMs)
  }
}

function dataOf(model: PlotModel): uPlot.AlignedData {
  const band = model.band ? [model.band.high] : []
  return [model.times, ...band, ...model.lines.map((line) => line.values)]
}

/** Whether a live plot would look as it does: what is new lies within its last pixel, and is drawn when that is full. */
function isAsDrawn(drawn: PlotModel, next: PlotModel, widthPx: number): boolean {
  const newest = ({ times }: PlotModel): number => times[times.length - 1] ?? 0
  return (
    next.isLive &&
    drawn.isLive &&
    drawn.toMs === next.toMs &&
    drawn.fromMs === next.fromMs &&
    drawn.top === next.top &&
    drawn.bottom === next.bottom &&
    drawn.zone === next.zone &&
    drawn.stepMs === next.stepMs &&
    drawn.marks === next.marks &&
    newest(next) - newest(drawn) < (next.toMs - next.fromMs) / widthPx
  )
}

/** What can only be changed by making the plot anew. */
function shapeOf(model: PlotModel): string {
  const lines = model.lines.map(({ slot, dashed, widthPx }) => `${slot}${dashed}${widthPx}`)
  return `${model.band ? 'band' : ''}|${lines.join()}`
}

function translucent(colour: string): string {
  return colour.startsWith('rgb(') ? colour.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.15)') : colour
}
