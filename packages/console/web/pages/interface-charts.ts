import type { ChartMember, ChartSpec } from '../chart/chart-spec.ts'
import { HERD_MIN_COUNT } from '../chart/herd.ts'
import { largestValue } from '../chart/scale.ts'
import { type InterfaceColumns, newestValue } from '../devices/interface-data.ts'

/** Footer of the card of a rate. */
export const RATE_PROVENANCE = 'rate of {step} · wall clock'
/** Most lines in a chart of unlike interfaces. */
const LINE_LIMIT_COUNT = 8

/** The interfaces that the charts show, and the common properties of the charts. */
export interface InterfaceChoice {
  readonly rows: readonly InterfaceColumns[]
  readonly common: Pick<ChartSpec, 'noun' | 'slots' | 'provenance' | 'isAlike'> & { readonly caption: string }
}

/**
 * Chooses interfaces with traffic and the same link rate as a herd. With fewer than four, chooses the busiest
 * interfaces.
 */
export function chooseInterfaces(interfaces: readonly InterfaceColumns[]): InterfaceChoice {
  const { rows, isAlike } = pick(interfaces)
  return {
    rows,
    common: {
      noun: ['interface', 'interfaces'],
      slots: [1, 3, 4],
      provenance: RATE_PROVENANCE,
      isAlike,
      caption: rows.length < interfaces.length ? `${rows.length} of ${interfaces.length}` : '',
    },
  }
}

function pick(interfaces: readonly InterfaceColumns[]): { rows: readonly InterfaceColumns[]; isAlike: boolean } {
  const peaks = new Map(interfaces.map((row) => [row, peakOf(row)]))
  const active = interfaces.filter((row) => peaks.get(row)! > 0)
  if (active.length === 0) return { rows: interfaces.slice(0, LINE_LIMIT_COUNT), isAlike: false }
  const alike = largestGroup(active, ({ columns }) => newestValue(columns.speed))
  if (alike.length >= HERD_MIN_COUNT) return { rows: alike, isAlike: true }
  const busiest = active.toSorted((a, b) => peaks.get(b)! - peaks.get(a)!).slice(0, LINE_LIMIT_COUNT)
  return { rows: active.filter((row) => busiest.includes(row)), isAlike: false }
}

/** The largest group of rows with the same key. Rows with key NaN do not count. */
function largestGroup<Row>(rows: readonly Row[], keyOf: (row: Row) => number): readonly Row[] {
  const groups = Map.groupBy(rows, keyOf)
  groups.delete(Number.NaN)
  return [...groups.values()].reduce((most, group) => (group.length > most.length ? group : most), [])
}

function peakOf({ columns, errors, drops }: InterfaceColumns): number {
  return [columns.received, columns.sent, errors, drops].reduce(
    (peak, values) => Math.max(peak, values ? largestValue([values], 0, values.length - 1) : 0),
    0,
  )
}

/** One member per interface with the column. */
export function interfaceMembers(
  rows: readonly InterfaceColumns[],
  values: (row: InterfaceColumns) => Float64Array | undefined,
): ChartMember[] {
  return rows.flatMap((row) => {
    const column = values(row)
    return column ? [{ key: row.device, label: row.device, values: column }] : []
  })
}
