import { isSimulatedOf } from '../../devices/world.ts'
import type { RunningSource } from '../../hosting/running-source.ts'
import { everyMsOf, saidPeriodOf } from '../../hosting/said-period.ts'
import type { TracebackConfig } from '../config.ts'
import { eventDeviceId } from '../event-device-id.ts'
import type { EventDisk } from '../keep/disk.ts'
import { EventFile } from '../keep/event-file.ts'
import { EventHead } from '../keep/event-head.ts'
import { SeriesBook } from '../keep/series-book.ts'
import type { DeviceLookup, KnownRules } from '../lookups.ts'
import { type EventClock, msOf } from './clock.ts'
import { type EventStart, OpenEvent } from './open-event.ts'

/**
 * Samples that an event has at least of before and after it, of the signal that its rule watches: fewer say nothing of
 * what is usual.
 */
const BEFORE_PERIODS = 10
const AFTER_PERIODS = 3
/** A source that is slower than this gets no longer windows. Unit: milliseconds. */
const PERIOD_MAX_MS = 6000
const NS_PER_MS = 1_000_000n

/** What an edge says of the event that it begins, and where. */
export type Beginning = Pick<
  EventStart,
  'id' | 'edgeEvent' | 'rule' | 'device' | 'source' | 'isRing' | 'holder' | 'monoNs' | 'errorNs' | 'continues' | 'first'
>

/** What an event is begun with. */
export interface BeginOptions {
  readonly config: TracebackConfig
  readonly version: string
  readonly host: string
  readonly sources: () => readonly RunningSource[]
  readonly devices: DeviceLookup
  readonly rules: KnownRules
  /** What a client is called. */
  readonly appOf: (client: bigint) => string
  readonly disk: EventDisk
  readonly clock: EventClock
  /** The file is written here. */
  readonly partPath: (id: number) => string
  /** Sees that the folder can be written. */
  readonly ready: () => Promise<void>
}

/** An event of which nothing is kept yet. No file is made before there are samples. */
export function beginEvent(start: Beginning, options: BeginOptions): OpenEvent {
  const { config, version, host, rules, devices, disk, clock, ready } = options
  const offsetNs = clock.wallOffsetNs()
  // A client may call its source as a source of the agent is called, and is none.
  const isOwn = start.holder === undefined
  const running = isOwn ? options.sources().find(({ name }) => name === start.source) : undefined
  const signals = rules.signalsOf(start.rule)
  const signal = signals.length === 1 ? signals[0] : undefined
  const periodMs = periodOf(running, signal?.type, start)
  const before = Math.max(config.before_ms, BEFORE_PERIODS * periodMs)
  const after = Math.max(config.after_ms, AFTER_PERIODS * periodMs)
  const beforeNs = start.continues === undefined ? BigInt(Math.round(before)) * NS_PER_MS : 0n
  const afterNs = BigInt(Math.round(after)) * NS_PER_MS
  const book = new SeriesBook(start.monoNs + offsetNs, beforeNs)
  const createdMs = msOf(start.monoNs + offsetNs)
  const isSimulated = isSimulatedOf(running?.definition.labels ?? {})
  const condition = rules.conditionOf(start.rule)
  const deviceId = eventDeviceId({ device: start.device, isSimulated }, running, devices)
  const reporter = start.holder === undefined ? start.source : options.appOf(start.holder)
  // The file is called as what it is about: whoever reports the signal, and the type of its records.
  const source = { id: reporter, tag: signal?.type ?? '', labels: {}, schema: 'sonde', host, pid: process.pid, version }
  const head = new EventHead({
    ...{ id: start.id, rule: start.rule, device: deviceId, condition, reporter },
    ...{ signal: signal === undefined ? '' : `${signal.type}.${signal.field}`, continues: start.continues },
    ...{ startNs: start.monoNs + offsetNs, errorNs: start.errorNs },
  })
  const file = new EventFile({ disk, path: options.partPath(start.id), source, createdMs, book, head, ready })
  return new OpenEvent(
    {
      ...start,
      condition,
      types: new Set(signals.map(({ type }) => type)),
      deviceId,
      offsetNs,
      beforeNs,
      afterNs,
      isSimulated,
    },
    { book, file },
  )
}

/** Between two samples that the rule saw; 0 if nobody says. Unit: milliseconds. */
function periodOf(running: RunningSource | undefined, type: string | undefined, { device, isRing }: Beginning): number {
  const said = type === undefined ? undefined : saidPeriodOf(running?.stats.periods ?? [], { type, device })
  return said === undefined ? 0 : Math.min(everyMsOf(said, isRing), PERIOD_MAX_MS)
}
