import type { Palette } from '../components/palette.ts'
import { drawMarker } from './marks.ts'
import type { PlotModel } from './plot-model.ts'

/** Words around a chart that leaves the page. */
export interface PictureWords {
  /** Title with its unit. */
  readonly title: string
  readonly unit: string
  readonly caption: string
  /** Where, when and on which clock, and whether it is simulated. */
  readonly foot: string
}

/** One entry of the legend; the herd has no slot. */
interface LegendEntry {
  readonly label: string
  readonly order: number
  readonly widthPx: number
}

const PADDING_PX = 16
const HEAD_PX = 30
const ROW_PX = 18
const FOOT_PX = 24
const KEY_PX = 16
const ENTRY_GAP_PX = 18
const FAMILY = '"Inter Variable", system-ui, sans-serif'
/** Entries beyond these are counted, not named. */
const LEGEND_LIMIT_COUNT = 24

/**
 * Draws a chart with its title, unit, legend and time zone on a canvas of its own, so that it can be read away from the
 * page.
 */
export function drawPicture(
  chart: HTMLCanvasElement,
  model: PlotModel,
  palette: Palette,
  words: PictureWords,
): HTMLCanvasElement {
  const picture = document.createElement('canvas')
  const context = picture.getContext('2d')
  if (!context) return picture
  const scale = chart.width / (Number.parseFloat(chart.style.width) || chart.clientWidth || chart.width)
  const widthPx = chart.width / scale + 2 * PADDING_PX
  const rows = legendRows(context, model, widthPx - 2 * PADDING_PX)
  const chartPx = chart.height / scale
  picture.width = Math.round(widthPx * scale)
  picture.height = Math.round((2 * PADDING_PX + HEAD_PX + chartPx + rows.length * ROW_PX + FOOT_PX) * scale)
  context.scale(scale, scale)
  context.fillStyle = palette.surface
  context.fillRect(0, 0, widthPx, picture.height / scale)
  context.textBaseline = 'middle'
  drawHead(context, palette, words, widthPx)
  context.drawImage(chart, PADDING_PX, PADDING_PX + HEAD_PX, chart.width / scale, chartPx)
  let y = PADDING_PX + HEAD_PX + chartPx + ROW_PX / 2 + 4
  for (const row of rows) {
    drawRow(context, model, palette, row, y)
    y += ROW_PX
  }
  write(context, words.foot, PADDING_PX, y + 6, `400 11px ${FAMILY}`, palette.ink3)
  return picture
}

function write(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  font: string,
  colour: string,
): number {
  context.font = font
  context.fillStyle = colour
  context.fillText(text, x, y)
  return context.measureText(text).width
}

function drawHead(context: CanvasRenderingContext2D, palette: Palette, words: PictureWords, widthPx: number): void {
  const y = PADDING_PX + 8
  let x = PADDING_PX
  x += write(context, words.title, x, y, `580 15px ${FAMILY}`, palette.ink) + 8
  x += write(context, words.unit, x, y, `400 13px ${FAMILY}`, palette.ink3) + 12
  context.save()
  context.beginPath()
  context.rect(x, 0, widthPx - PADDING_PX - x, PADDING_PX + HEAD_PX)
  context.clip()
  write(context, words.caption, x, y, `400 12px ${FAMILY}`, palette.ink3)
  context.restore()
}

/** The legend broken into rows that fit. */
function legendRows(context: CanvasRenderingContext2D, model: PlotModel, roomPx: number): LegendEntry[][] {
  // The scale of a strip and the edges of its bins stand beside it.
  if (model.heat) return []
  context.font = `400 12px ${FAMILY}`
  const rows: LegendEntry[][] = []
  let usedPx = Number.POSITIVE_INFINITY
  const named = model.lines.slice(0, LEGEND_LIMIT_COUNT)
  const more = model.lines.length - named.length
  const labels = named.map(({ slot, label }) => (slot === undefined && model.bandLabel ? model.bandLabel : label))
  if (more > 0) labels.push(`and ${more} more`)
  labels.forEach((label, order) => {
    const widthPx = KEY_PX + context.measureText(label).width + ENTRY_GAP_PX
    if (usedPx + widthPx > roomPx) {
      rows.push([])
      usedPx = 0
    }
    rows.at(-1)!.push({ label, order, widthPx })
    usedPx += widthPx
  })
  return rows
}

function drawRow(
  context: CanvasRenderingContext2D,
  model: PlotModel,
  palette: Palette,
  row: readonly LegendEntry[],
  y: number,
): void {
  let x = PADDING_PX
  for (const { label, order, widthPx } of row) {
    const line = model.lines[order]
    if (line?.slot && line.marker) {
      drawMarker(context, line.marker, x + 5, y, 1, palette.slots[line.slot], palette.surface)
    } else if (line) {
      context.fillStyle = palette.herd
      context.fillRect(x, y - 1, 10, 2)
    }
    write(context, label, x + KEY_PX, y, `400 12px ${FAMILY}`, line?.slot ? palette.texts[line.slot] : palette.ink2)
    x += widthPx
  }
}
