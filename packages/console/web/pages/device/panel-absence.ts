import type { LatestSeries } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import { queryKey } from '../../api/frame.ts'
import type { QueryColumns } from '../../api/query-client.ts'
import type { ChartMember } from '../../chart/chart-spec.ts'
import { compareNames } from '../../format/names.ts'
import type { DevicePanel, PanelLine } from './panel.ts'
import { lineNames } from './panel-members.ts'
import { isOfLine, queryOf } from './panel-queries.ts'

/** A line that is not drawn because the source reports the value as unavailable. */
interface MissingLine {
  readonly name: string
  readonly reason: string
}

export function missingOf(
  { lines }: DevicePanel,
  found: readonly ChartMember[],
  latest: readonly LatestSeries[],
): readonly MissingLine[] {
  const drawn = new Set(found.map(({ label }) => label))
  return lines.flatMap((line) => {
    const own = latest.filter((one) => isOfLine(line, one))
    const nameOf = lineNames(
      line,
      own.map(({ labels }) => labels),
    )
    return own
      .filter(({ absent }) => absent !== '')
      .map(({ labels, absent }) => ({ name: nameOf(labels), reason: absent }))
      .filter(({ name }) => !drawn.has(name))
      .sort((a, b) => compareNames(a.name, b.name))
  })
}

export function joinNames([reason, lines]: readonly [string, readonly MissingLine[]]): MissingLine {
  return { name: lines.map(({ name }) => name).join(', '), reason }
}

/** Adds empty lanes for missing values, so that the lanes of several charts align. */
export function withEmptyLanes(
  found: readonly ChartMember[],
  missing: readonly MissingLine[],
  { grid }: QueryColumns,
): readonly ChartMember[] {
  const values = new Float64Array(grid?.length ?? 0).fill(Number.NaN)
  const empty = missing.map(({ name }): ChartMember => ({ key: name, label: name, values }))
  const isNumbered = found.every(({ label }) => /\d$/.test(label))
  const all = [...found, ...empty]
  return isNumbered ? all.sort((a, b) => compareNames(a.label, b.label)) : all
}

/**
 * Why a panel has no line: no source reports it, the query was refused, or the source gave a reason. Empty if a sample
 * may still arrive.
 */
export function absenceReason(
  device: DeviceInfo,
  { lines, without }: DevicePanel,
  answer: QueryColumns,
  {
    latest,
    knownMetrics,
    goneWords,
  }: {
    readonly latest: readonly LatestSeries[]
    readonly knownMetrics: ReadonlySet<string>
    readonly goneWords: string
  },
): string {
  if (!lines.some(({ metric }) => knownMetrics.has(metric))) return without
  // For other devices only the catalogue is known.
  const own = lines.filter(({ of }) => of === undefined || of.id === device.id)
  if (own.length === 0) return ''
  const refused = own.flatMap((line) => refusalOf(device, line, answer))
  if (refused.length > 0) return [...new Set(refused)].join(' ')
  const series = latest.filter((one) => own.some((line) => isOfLine(line, one)))
  if (series.length === 0) return goneWords ? `${goneWords} No sample of it is in this window.` : without
  const notes = own.flatMap((line) => notesOn(device, line, answer))
  if (notes.length > 0) return [...new Set(notes)].join(' ')
  const reasons = series.map(({ absent }) => absent)
  return reasons.every(Boolean) ? [...new Set(reasons)].join(' ') : ''
}

function notesOn(device: DeviceInfo, line: PanelLine, answer: QueryColumns): readonly string[] {
  const query = queryOf(device, line)
  return (query && answer.result(query)?.meta.notes) ?? []
}

function refusalOf(device: DeviceInfo, line: PanelLine, { snapshot }: QueryColumns): readonly string[] {
  const query = queryOf(device, line)
  const error = query && snapshot.queryErrors.get(queryKey(query))
  return error ? [`The server does not tell it: ${error.message}`] : []
}
