import type { Marker } from '../components/palette.ts'

/** Draws a marker of about 6 CSS pixels; `unit` is canvas pixels a CSS pixel. */
export function drawMarker(
  context: CanvasRenderingContext2D,
  marker: Marker,
  x: number,
  y: number,
  unit: number,
  colour: string,
  paper: string,
): void {
  const isOpen = marker.startsWith('open-')
  const radius = 3 * unit
  const path = new Path2D()
  if (marker.endsWith('circle')) path.arc(x, y, radius, 0, Math.PI * 2)
  else if (marker.endsWith('square')) path.rect(x - radius * 0.9, y - radius * 0.9, radius * 1.8, radius * 1.8)
  else if (marker.endsWith('triangle'))
    polygon(path, [x, y - radius * 1.15, x + radius * 1.1, y + radius, x - radius * 1.1, y + radius])
  else if (marker === 'diamond')
    polygon(path, [x, y - radius * 1.3, x + radius * 1.3, y, x, y + radius * 1.3, x - radius * 1.3, y])
  else {
    path.moveTo(x - radius, y - radius)
    path.lineTo(x + radius, y + radius)
    path.moveTo(x + radius, y - radius)
    path.lineTo(x - radius, y + radius)
  }
  context.save()
  context.setLineDash([])
  context.lineWidth = 1.6 * unit
  context.strokeStyle = colour
  context.fillStyle = isOpen ? paper : colour
  if (marker !== 'cross') context.fill(path)
  if (marker === 'cross' || isOpen) context.stroke(path)
  context.restore()
}

function polygon(path: Path2D, points: readonly number[]): void {
  path.moveTo(points[0]!, points[1]!)
  for (let i = 2; i < points.length; i += 2) path.lineTo(points[i]!, points[i + 1]!)
  path.closePath()
}

/** Fills a rectangle with diagonal lines: no data was here. */
export function drawHatch(
  context: CanvasRenderingContext2D,
  box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number },
  colour: string,
  unit: number,
): void {
  const { x, y, width, height } = box
  context.save()
  context.beginPath()
  context.rect(x, y, width, height)
  context.clip()
  context.beginPath()
  const distance = 5 * unit
  // Lines start on a fixed lattice, so that the hatch stands still while the window moves.
  const first = Math.floor((x - height) / distance) * distance
  for (let at = first; at < x + width; at += distance) {
    context.moveTo(at, y + height)
    context.lineTo(at + height, y)
  }
  context.setLineDash([])
  context.lineWidth = unit * 0.8
  context.strokeStyle = colour
  context.globalAlpha = 0.7
  context.stroke()
  context.restore()
}
