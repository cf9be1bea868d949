/** Takes the points of a path; a Path2D is one. */
export interface PathSink {
  moveTo: (x: number, y: number) => void
  lineTo: (x: number, y: number) => void
}

/** Where sample `i` of value `v` lies, in canvas pixels: `x = left + i × perSample`, `y = zero - v × perUnit`. */
export interface Geometry {
  readonly left: number
  readonly perSample: number
  readonly zero: number
  readonly perUnit: number
}

/**
 * Draws the samples `from` to `to` (inclusive) of one line. NaN lifts the pen: nothing is joined across a gap.
 *
 * Where several samples share a pixel column, the smallest and the largest are drawn in the order in which they came,
 * so that no peak is lost. `steps` draws each sample as wide as its step, ending at its time.
 */
export function traceLine(
  sink: PathSink,
  values: Float64Array,
  from: number,
  to: number,
  geometry: Geometry,
  shape: 'line' | 'steps',
): void {
  if (geometry.perSample < 0.75) traceColumns(sink, values, from, to, geometry)
  else if (shape === 'steps') traceSteps(sink, values, from, to, geometry)
  else traceSamples(sink, values, from, to, geometry)
}

function traceSamples(sink: PathSink, values: Float64Array, from: number, to: number, geometry: Geometry): void {
  const { left, perSample, zero, perUnit } = geometry
  let isDown = false
  for (let i = from; i <= to; i++) {
    const value = values[i]!
    if (Number.isNaN(value)) {
      isDown = false
      continue
    }
    const x = left + i * perSample
    const y = zero - value * perUnit
    if (isDown) sink.lineTo(x, y)
    else {
      // A sample alone between two gaps would leave no mark; it gets a dash as wide as half a step.
      sink.moveTo(x - Math.min(perSample / 2, 2), y)
      sink.lineTo(x, y)
    }
    isDown = true
  }
}

function traceSteps(sink: PathSink, values: Float64Array, from: number, to: number, geometry: Geometry): void {
  const { left, perSample, zero, perUnit } = geometry
  let isDown = false
  for (let i = from; i <= to; i++) {
    const value = values[i]!
    if (Number.isNaN(value)) {
      isDown = false
      continue
    }
    const x = left + i * perSample
    const y = zero - value * perUnit
    if (isDown) sink.lineTo(x - perSample, y)
    else sink.moveTo(x - perSample, y)
    sink.lineTo(x, y)
    isDown = true
  }
}

function traceColumns(sink: PathSink, values: Float64Array, from: number, to: number, geometry: Geometry): void {
  const { left, perSample, zero, perUnit } = geometry
  let isDown = false
  let i = from
  while (i <= to) {
    const column = Math.floor(left + i * perSample)
    const end = Math.min(to, Math.max(i, Math.ceil((column + 1 - left) / perSample) - 1))
    let low = Number.POSITIVE_INFINITY
    let high = Number.NEGATIVE_INFINITY
    let lowAt = i
    let highAt = i
    for (; i <= end; i++) {
      const value = values[i]!
      if (value < low) {
        low = value
        lowAt = i
      }
      if (value > high) {
        high = value
        highAt = i
      }
    }
    if (high < low) {
      isDown = false
      continue
    }
    const x = column + 0.5
    const first = zero - (lowAt <= highAt ? low : high) * perUnit
    const second = zero - (lowAt <= highAt ? high : low) * perUnit
    if (isDown) sink.lineTo(x, first)
    else {
      sink.moveTo(x - 0.5, first)
      sink.lineTo(x, first)
    }
    if (second !== first) sink.lineTo(x, second)
    isDown = true
  }
}

/** Draws the area between two lines, one closed shape for every run without a gap. */
export function traceBand(
  sink: PathSink,
  low: Float64Array,
  high: Float64Array,
  from: number,
  to: number,
  geometry: Geometry,
  shape: 'line' | 'steps',
): void {
  let start = from
  while (start <= to) {
    while (start <= to && Number.isNaN(high[start]!)) start++
    let end = start
    while (end < to && !Number.isNaN(high[end + 1]!)) end++
    if (start > to) return
    const edge = { upper: [] as number[], lower: [] as number[] }
    collectEdge(edge.upper, high, start, end, geometry, shape, Math.max)
    collectEdge(edge.lower, low, start, end, geometry, shape, Math.min)
    sink.moveTo(edge.upper[0]!, edge.upper[1]!)
    for (let k = 2; k < edge.upper.length; k += 2) sink.lineTo(edge.upper[k]!, edge.upper[k + 1]!)
    for (let k = edge.lower.length - 2; k >= 0; k -= 2) sink.lineTo(edge.lower[k]!, edge.lower[k + 1]!)
    start = end + 1
  }
}

function collectEdge(
  points: number[],
  values: Float64Array,
  start: number,
  end: number,
  geometry: Geometry,
  shape: 'line' | 'steps',
  outer: (a: number, b: number) => number,
): void {
  const { left, perSample, zero, perUnit } = geometry
  let i = start
  while (i <= end) {
    let x = left + i * perSample
    let value = values[i]!
    if (perSample < 0.75) {
      const column = Math.floor(x)
      for (i++; i <= end && Math.floor(left + i * perSample) === column; i++) value = outer(value, values[i]!)
      x = column + 0.5
    } else i++
    const y = zero - value * perUnit
    if (shape === 'steps' || points.length === 0) points.push(x - (shape === 'steps' ? perSample : 0.5), y)
    points.push(x, y)
  }
}

/** Draws the area between a line and a level, one closed shape for every run without a gap. */
export function traceLane(
  sink: PathSink,
  values: Float64Array,
  level: number,
  from: number,
  to: number,
  geometry: Geometry,
  shape: 'line' | 'steps',
): void {
  const y = geometry.zero - level * geometry.perUnit
  let start = from
  while (start <= to) {
    while (start <= to && Number.isNaN(values[start]!)) start++
    let end = start
    while (end < to && !Number.isNaN(values[end + 1]!)) end++
    if (start > to) return
    const edge: number[] = []
    collectEdge(edge, values, start, end, geometry, shape, Math.max)
    sink.moveTo(edge[0]!, y)
    for (let k = 0; k < edge.length; k += 2) sink.lineTo(edge[k]!, edge[k + 1]!)
    sink.lineTo(edge[edge.length - 2]!, y)
    start = end + 1
  }
}
