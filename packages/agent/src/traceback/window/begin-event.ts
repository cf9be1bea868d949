import { isSimulatedSeries } from '../../devices/world.ts'
import type { RingSource } from '../../hosting/running-source.ts'
import { everyMsOf, saidPeriodOf } from '../../hosting/said-period.ts'
import type { TracebackConfig } from '../config.ts'
import { eventDeviceId } from '../event-device-id.ts'
import type { EventDisk } from '../keep/disk.ts'
import { EventFile } from '../keep/event-file.ts'
import { EventHead } from '../keep/event-head.ts'
import { SeriesBook } from '../keep/series-book.ts'
import type { EventDeviceLookup, KnownRules } from '../lookups.ts'
import { type EventClock, nsToMs } from './clock.ts'
import { type EventStart, OpenEvent } from './open-event.ts'

/**
 * Fewest samples before and after an event, of the signal that its rule watches. Fewer samples do not show the usual
 * state.
 */
const BEFORE_PERIODS = 10
const AFTER_PERIODS = 3
/** Sources with a longer period do not lengthen the window further. Unit: milliseconds. */
const PERIOD_MAX_MS = 6000
const NS_PER_MS = 1_000_000n

/** Facts of an edge about the event that it begins. */
export type Beginning = Pick<
  EventStart,
  'id' | 'edgeEvent' | 'rule' | 'device' | 'source' | 'isRing' | 'holder' | 'monoNs' | 'errorNs' | 'continues' | 'first'
> & {
  /** From the monotonic clock to the wall clock; default: that of now. All parts of an event have the same. */
  readonly offsetNs?: bigint
}

/** Options of {@link beginEvent}. */
export interface BeginOptions {
  readonly config: TracebackConfig
  readonly version: string
  readonly host: string
  readonly sources: () => readonly RingSource[]
  readonly devices: EventDeviceLookup
  readonly rules: KnownRules
  /** The name of a client. */
  readonly appOf: (client: bigint) => string
  readonly disk: EventDisk
  readonly clock: EventClock
  /** Path of the file while it is written. */
  readonly partPath: (id: number) => string
  /** Makes sure that the folder can be written. */
  readonly ready: () => Promise<void>
}

/** Makes an event without samples. Its file is created with the first samples. */
export function beginEvent(start: Beginning, options: BeginOptions): OpenEvent {
  const { config, version, host, rules, devices, disk, clock, ready } = options
  const offsetNs = start.offsetNs ?? clock.wallOffsetNs()
  // A client's source may have the same name as a source of the agent.
  const isOwn = start.holder === undefined
  const running = isOwn ? options.sources().find(({ name }) => name === start.source) : undefined
  const signals = rules.signalsOf(start.rule)
  const signal = signals.length === 1 ? signals[0] : undefined
  const periodMs = watchedPeriodMs(running, signal?.type, start)
  const before = Math.max(config.before_ms, BEFORE_PERIODS * periodMs)
  const after = Math.max(config.after_ms, AFTER_PERIODS * periodMs)
  const beforeNs = start.continues === undefined ? BigInt(Math.round(before)) * NS_PER_MS : 0n
  const afterNs = BigInt(Math.round(after)) * NS_PER_MS
  const book = new SeriesBook(start.monoNs + offsetNs, beforeNs)
  const createdMs = nsToMs(start.monoNs + offsetNs)
  const isOfSimulation = isSimulatedSeries(running?.definition.labels ?? {})
  const condition = rules.conditionOf(start.rule)
  const deviceId = eventDeviceId({ device: start.device, isSimulated: isOfSimulation }, running, devices)
  // A combination has no source of its own.
  const isSimulated = isOfSimulation || (isOwn && devices.byId(deviceId)?.isSimulated === true)
  const reporter = start.holder === undefined ? start.source : options.appOf(start.holder)
  // The file has the name of its subject: the reporter of the signal, and the type of its records.
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

/** Time between two samples that the rule saw; 0 if unknown. Unit: milliseconds. */
function watchedPeriodMs(
  running: RingSource | undefined,
  type: string | undefined,
  { device, isRing }: Beginning,
): number {
  const said = type === undefined ? undefined : saidPeriodOf(running?.stats.periods ?? [], { type, device })
  return said === undefined ? 0 : Math.min(everyMsOf(said, isRing), PERIOD_MAX_MS)
}
