import type { FrameRange } from '../../api/frame.ts'
import type { MetricQuery } from '../../api/types.ts'
import type { ExplorerSeries } from './lanes.ts'

/** The command that asks the same of the API. A live window is written as the span that it shows now. */
export function curlCommand(
  origin: string,
  queries: readonly MetricQuery[],
  span: { readonly fromMs: number; readonly toMs: number },
  stepMs: number,
): string {
  const body = JSON.stringify({ fromMs: Math.round(span.fromMs), toMs: Math.round(span.toMs), stepMs, queries })
  return `curl -s ${origin}/api/v1/query -H 'content-type: application/json' -d '${body.replaceAll("'", `'\\''`)}'`
}

/** The samples as CSV: one row a time, one column a series, full precision, an empty cell for a gap. */
export function csvOf(times: Float64Array, series: readonly ExplorerSeries[]): string {
  const heads = series.map(({ meta, labels }) => {
    const conditions = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
    return quoted(`${meta.function} ${meta.metric}{${conditions.join(',')}}`)
  })
  const lines = [['time', ...heads].join(',')]
  times.forEach((timeMs, i) => {
    const cells = series.map(({ member }) => (Number.isNaN(member.values[i]!) ? '' : String(member.values[i])))
    lines.push([new Date(timeMs).toISOString(), ...cells].join(','))
  })
  return `${lines.join('\r\n')}\r\n`
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

/** Hands a text to the browser as a file. */
export function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

/** The span that a range shows now. */
export function spanOf(range: FrameRange, nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  return range.kind === 'fixed' ? range : { fromMs: nowMs - range.windowMs, toMs: nowMs }
}
