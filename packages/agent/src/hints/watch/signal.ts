import { type Labels, type RecordType, SondeError } from '@sonde/sdk'
import { TURN_LIMIT_MS } from '@sonde/sdk/internal'

/** A field of a type as rules read it. */
export interface HintSignal {
  /** Name of the metric, for evidence and for the list of absent metrics. */
  readonly metric: string
  readonly type: string
  readonly field: string
  /** `counter`: rules read rates and increases. `gauge`: rules read values. */
  readonly reads: 'counter' | 'gauge'
  /** How the series of one device, such as lanes or priorities, are combined. */
  readonly across: 'sum' | 'max'
  /** Which series of the type count; default: all. */
  readonly where: ((labels: Labels) => boolean) | undefined
  /** Matchers with the same meaning as `where`, for evidence. */
  readonly labels: Labels
  /** Data that is kept for 10 minutes: the mean, the events, or nothing. */
  readonly past: 'mean' | 'events' | undefined
  /** Above this rate, a step of a counter is a reset or a read error. Unit: per second. */
  readonly rateMax: number
  /**
   * If a series appears later than this after the start of its source, its counter started at 0. A series that was
   * there before may have counted for years. Unit: milliseconds; ∞: never.
   */
  readonly bornAfterMs: number
  /** Whether the devices of a node are read one after another instead of all at once. */
  readonly inTurns: boolean
  /** After a pause this long, earlier values do not count for the rate. Unit: milliseconds. */
  readonly pauseMs: number
}

/** Options of {@link counterSignal} and {@link gaugeSignal}. */
export interface SignalOptions {
  across?: HintSignal['across']
  where?: (labels: Labels) => boolean
  labels?: Labels
  past?: NonNullable<HintSignal['past']>
  rateMax?: number
  bornAfterMs?: number
}

/** No port of today passes more packets, so a jump by 2^32 in a second is an error. Unit: events per second. */
const EVENT_RATE_MAX = 1e8
/** Twice the speed of today's fastest link. Unit: bytes per second. */
const BYTE_RATE_MAX = 4e11
const PAUSE_MS = 15_000

/** A signal that is a counter. */
export function counterSignal<T extends RecordType>(
  type: T,
  field: keyof T['fields'] & string,
  options: SignalOptions = {},
): HintSignal {
  return makeSignal(type, field, 'counter', options)
}

/** A signal that is a gauge. */
export function gaugeSignal<T extends RecordType>(
  type: T,
  field: keyof T['fields'] & string,
  options: SignalOptions = {},
): HintSignal {
  return makeSignal(type, field, 'gauge', options)
}

function makeSignal(type: RecordType, field: string, reads: HintSignal['reads'], options: SignalOptions): HintSignal {
  const metric = type.metrics.get(field)
  if (metric === undefined) throw new SondeError('SCH_FIELD', `${type.name} has no metric of the field ${field}`)
  const { unit, labels } = type.fields[field] ?? {}
  return {
    metric,
    type: type.name,
    field,
    reads,
    across: options.across ?? 'sum',
    where: options.where,
    labels: { ...labels, ...options.labels },
    past: options.past,
    rateMax: options.rateMax ?? (unit === 'bytes' ? BYTE_RATE_MAX : EVENT_RATE_MAX),
    bornAfterMs: options.bornAfterMs ?? Number.POSITIVE_INFINITY,
    inTurns: type.inTurns,
    pauseMs: type.inTurns ? TURN_LIMIT_MS : PAUSE_MS,
  }
}
