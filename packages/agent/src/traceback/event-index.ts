import type { Labels, RecordType } from '@sonde/sdk'
import type { LeftOutStretch } from '@sonde/sdk/api'
import { definitionOf, entityOf, labelOf, seriesKey, turn } from '@sonde/sdk/internal'
import type { Device } from '../devices/device.ts'
import type { IndexSignal, KeptGap, KeptIndex, KeptSeries } from './keep/kept-index.ts'
import { type BookedSeries, deviceIn, type SeriesPart } from './keep/series-book.ts'
import type { EventDeviceLookup } from './lookups.ts'
import { nearnessTo } from './nearness.ts'
import { nsToMs } from './window/clock.ts'
import type { OpenEvent } from './window/open-event.ts'
import type { SourceNotices } from './window/source-notices.ts'

/** Options of the index of an event. */
export interface IndexOptions {
  readonly devices: EventDeviceLookup
  readonly told: SourceNotices
  readonly signal: IndexSignal | undefined
  /** Signals that the file of rules lists. */
  readonly listed: readonly IndexSignal[]
}

interface PlacedSeries {
  readonly one: BookedSeries
  readonly part: SeriesPart | undefined
  readonly device: Device | undefined
  readonly id: string
}

/**
 * The content of an event's file, with the present facts about its series, because devices may leave later. Yields to
 * the loop.
 */
export async function eventIndex(event: OpenEvent, options: IndexOptions): Promise<KeptIndex> {
  const { book, file, start } = event
  const { devices, told, signal, listed } = options
  const parts = book.parts.map(({ source, type, isRing }) => {
    return { source, fingerprint: type.fingerprint, definition: definitionOf(type), isRing }
  })
  const blocks = [...file.blocks]
  const booked = book.kept().map((one) => ({ one, part: book.parts[one.part] }))
  const placed: PlacedSeries[] = []
  for (const { one, part } of booked) {
    const device = part === undefined ? undefined : devices.deviceOf(part.type, one.labels)
    placed.push({ one, part, device, id: device?.id ?? deviceIn(part?.type, one.labels) })
    if (turn.isOver()) await turn.next()
  }
  const near = nearnessTo(start.deviceId, devices)
  const leftOut = event.leftOutStretches.map(({ fromNs, toNs, ...of }) => ({ ...of, ...msOfStretch(fromNs, toNs) }))
  const apart = apartLabels(placed)
  const series: KeptSeries[] = []
  for (const { one, part, device, id } of placed) {
    const { source = '', type, isOwn = false } = part ?? {}
    const of = { source, type: type?.name ?? '', series: seriesKey(one.labels) }
    // Notices of the agent's own sources are not about a client whose source has the same name.
    const toldGaps = isOwn ? told.gapsOf(of, one.fromMs, one.toMs) : []
    const leftOutGaps = isOwn ? leftOut.filter((stretch) => isLeftOutOf(stretch, of, type, one.labels)) : []
    const gaps = joinedGaps([...one.gaps, ...toldGaps, ...leftOutGaps])
    series.push({
      ...one,
      device: id,
      deviceName: device?.name ?? id,
      kind: entityKind(type, one.labels, device),
      near: near(id),
      apart: apart.get(`${one.part} ${id}`) ?? [],
      errorMs: isOwn ? told.errorMs(source, deviceIn(type, one.labels)) : 0,
      gaps,
    })
    if (turn.isOver()) await turn.next()
  }
  return { parts, blocks, series, listed, leftOut, ...(signal === undefined ? {} : { signal }) }
}

function msOfStretch(fromNs: bigint, toNs: bigint): { readonly fromMs: number; readonly toMs: number } {
  return { fromMs: nsToMs(fromNs), toMs: nsToMs(toNs) }
}

/** Whether a left-out time span belongs to a series. The name of a ring of one port is DEVICE/PORT. */
function isLeftOutOf(
  stretch: LeftOutStretch,
  of: { readonly source: string; readonly type: string },
  type: RecordType | undefined,
  labels: Labels,
): boolean {
  if (stretch.source !== of.source || stretch.type !== of.type) return false
  const device = deviceIn(type, labels)
  return ['', device, `${device}/${labelOf(labels, 'port')}`].includes(stretch.device)
}

/** Gaps by start. Overlapping gaps are joined, because sample numbers and limits may report the same gap. */
function joinedGaps(gaps: readonly KeptGap[]): KeptGap[] {
  const joined: KeptGap[] = []
  for (const { fromMs, toMs, samples } of gaps.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1)
    if (last === undefined || fromMs >= last.toMs) joined.push({ fromMs, toMs, samples })
    else joined.splice(-1, 1, { ...last, toMs: Math.max(last.toMs, toMs), samples: Math.max(last.samples, samples) })
  }
  return joined
}

/** The kind of the series' entity. The PCI device of a NIC stays a PCI device. */
function entityKind(type: RecordType | undefined, labels: Labels, device: Device | undefined): string {
  return (type === undefined ? undefined : entityOf(type, labels)?.kind) ?? device?.kind ?? ''
}

/** Labels that differ among the series of one type and device. */
function apartLabels(placed: readonly PlacedSeries[]): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(placed, ({ one, id }) => `${one.part} ${id}`)
  return new Map(
    [...groups].map(([group, own]) => {
      const names = new Set(own.flatMap(({ one }) => Object.keys(one.labels)))
      return [group, [...names].filter((name) => new Set(own.map(({ one }) => labelOf(one.labels, name))).size > 1)]
    }),
  )
}
