import { type MetricQuery, spreadsheetText } from '@sonde/sdk/api'
import type { FrameRange } from '../../api/frame.ts'
import { unmarked } from '../../format/marked-text.ts'
import { sampleUnit } from '../../format/quantity.ts'
import { scopedAddress } from '../../state/node-scope.ts'
import type { ExplorerSeries } from './explorer-lanes.ts'

/** The curl command for the same request. A live window is written as its current span. */
export function curlCommand(
  origin: string,
  queries: readonly MetricQuery[],
  span: { readonly fromMs: number; readonly toMs: number },
  stepMs: number,
): string {
  const body = unmarked(
    JSON.stringify({ fromMs: Math.round(span.fromMs), toMs: Math.round(span.toMs), stepMs, queries }),
  )
  // Whoever made the link to this page chose the name of the node in it, so that it may be code for a shell.
  const address = inQuotes(origin + scopedAddress('/api/v1/query'))
  return `curl -s ${address} -H 'content-type: application/json' -d ${inQuotes(body)}`
}

/** A word of a shell that stands for itself. */
function inQuotes(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Samples to export: positions `from` to `to` of a grid, with their series and node. */
export interface ExportTable {
  readonly node: string
  readonly stepMs: number
  readonly times: Float64Array
  readonly series: readonly ExplorerSeries[]
  readonly from: number
  readonly to: number
}

/**
 * The samples as CSV: a row per time, a column per series with its unit in brackets. Full precision; an empty cell is a
 * gap.
 */
export function csvOf({ times, series, from, to }: ExportTable): string {
  const heads = series.map(({ meta, labels, column: { bin = {} }, isSimulated }) => {
    const conditions = Object.entries({ ...labels, ...bin }).map(([name, value]) => `${name}="${value ?? ''}"`)
    const unit = sampleUnit(meta)
    const marks = [unit && ` [${unit}]`, isSimulated && ' (simulated)'].filter(Boolean).join('')
    return quoted(`${meta.function} ${meta.metric}{${conditions.join(',')}}${marks}`)
  })
  const lines = [['time', ...heads].join(',')]
  for (let i = from; i <= to; i++) {
    const cells = series.map(({ member }) => (Number.isNaN(member.values[i]!) ? '' : String(member.values[i])))
    lines.push([new Date(times[i]!).toISOString(), ...cells].join(','))
  }
  return `${lines.join('\r\n')}\r\n`
}

/** A text as one cell, which is never a formula. */
function quoted(text: string): string {
  return `"${spreadsheetText(text).replaceAll('"', '""')}"`
}

/** The samples as JSON: names and columns as the API gives them, full precision, `null` for a gap. */
export function jsonOf({ node, stepMs, times, series, from, to }: ExportTable): string {
  const part = (values: Float64Array): (number | null)[] =>
    Array.from(values.subarray(from, to + 1), (value) => (Number.isNaN(value) ? null : value))
  const json = JSON.stringify(
    {
      node,
      stepMs,
      times: part(times),
      series: series.map(({ meta, labels, member, column: { bin }, isSimulated }) => ({
        metric: meta.metric,
        function: meta.function,
        unit: meta.unit,
        labels,
        ...(bin && { bin }),
        simulated: isSimulated,
        values: part(member.values),
      })),
    },
    null,
    1,
  )
  return unmarked(json)
}

/** Name of an exported file. It marks simulated data. */
export function exportFileName(words: readonly string[], isSimulated: boolean, extension: string): string {
  const name = ['sonde', ...words, ...(isSimulated ? ['simulated'] : [])].join('-').replaceAll(/[^\w.-]+/g, '-')
  return `${name}.${extension}`
}

/** Downloads content as a file. */
export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

/** The current span of a range. */
export function exportSpan(range: FrameRange, nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  return range.kind === 'fixed' ? range : { fromMs: nowMs - range.windowMs, toMs: nowMs }
}
