import { definitionOf, type Labels, seriesKey } from '@sonde/sdk'
import type { KeptIndex, KeptSeries } from './keep/kept-index.ts'
import { deviceIn } from './keep/series-book.ts'
import type { DeviceLookup } from './traceback.ts'
import type { OpenEvent } from './window/open-event.ts'
import type { Told } from './window/told.ts'

/** The signal that a rule watches. */
export interface WatchedSignal {
  readonly type: string
  readonly field: string
  readonly labels: Labels
}

/** What the index of an event is made with. */
export interface IndexOptions {
  readonly devices: DeviceLookup
  readonly told: Told
  readonly signal: WatchedSignal | undefined
}

/** What the file of an event holds, with what is known of its series now: devices may leave later. */
export function indexOf({ book, file }: OpenEvent, { devices, told, signal }: IndexOptions): KeptIndex {
  const parts = book.parts.map(({ source, type, isRing }) => {
    return { source, fingerprint: type.fingerprint, definition: definitionOf(type), isRing }
  })
  const series = book.kept().map((one): KeptSeries => {
    const part = book.parts[one.part]
    const { source = '', type } = part ?? {}
    const device = deviceIn(one.labels)
    const of = { source, type: type?.name ?? '', series: seriesKey(one.labels) }
    const gaps = [...one.gaps, ...told.gapsOf(of, one.fromMs, one.toMs)].sort((a, b) => a.fromMs - b.fromMs)
    const kind = (type === undefined ? undefined : devices.deviceOf(type, one.labels)?.kind) ?? ''
    return { ...one, device, kind, errorMs: told.errorMs(source, device), gaps }
  })
  return { parts, blocks: file.blocks, series, ...(signal === undefined ? {} : { signal }) }
}
