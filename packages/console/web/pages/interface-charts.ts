import type { ChartMember, ChartSpec } from '../chart/chart-spec.ts'
import { HERD_MIN_COUNT } from '../chart/herd.ts'
import { largestOf } from '../chart/scale.ts'
import { type InterfaceColumns, newestValue } from '../devices/interface-data.ts'

/** Foot of the card of a rate. */
export const RATE_PROVENANCE = 'rate of {step} · wall clock'
/** Lines that a chart of unlike interfaces has room for. */
const LINE_LIMIT_COUNT = 8

/** What all charts of several interfaces have in common, and the interfaces that they show. */
export interface InterfaceChoice {
  readonly rows: readonly InterfaceColumns[]
  readonly common: Pick<ChartSpec, 'noun' | 'slots' | 'provenance' | 'isAlike'> & { readonly caption: string }
}

/**
 * Ports of the same link rate that carry traffic are one herd; where there are no four of them, the busiest interfaces
 * are shown.
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

/** The most rows that share a key which is not NaN. */
function largestGroup<Row>(rows: readonly Row[], keyOf: (row: Row) => number): readonly Row[] {
  const groups = Map.groupBy(rows, keyOf)
  groups.delete(Number.NaN)
  return [...groups.values()].reduce((most, group) => (group.length > most.length ? group : most), [])
}

function peakOf({ columns, errors, drops }: InterfaceColumns): number {
  return [columns.received, columns.sent, errors, drops].reduce(
    (peak, values) => Math.max(peak, values ? largestOf([values], 0, values.length - 1) : 0),
    0,
  )
}

/** One member an interface that has the column. */
export function interfaceMembers(
  rows: readonly InterfaceColumns[],
  values: (row: InterfaceColumns) => Float64Array | undefined,
): ChartMember[] {
  return rows.flatMap((row) => {
    const column = values(row)
    return column ? [{ key: row.device, label: row.device, values: column }] : []
  })
}
