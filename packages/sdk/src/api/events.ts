// What `GET /api/v1/events` and its children answer, for the agent that answers and the page that asks. Times are
// milliseconds since the Unix epoch, with fractions down to the resolution that a signal has.

/** Why an event ended. */
export type EventEnd =
  /** Its rule holds no longer. */
  | 'cleared'
  /** It became longer or larger than an event may be; the next event continues it. */
  | 'cut'
  /** Who watched was stopped. */
  | 'stopped'
  /** The process that watched was replaced. */
  | 'host_replaced'
  /** The disk took no more of it. */
  | 'truncated'

/** An event that a rule of traceback opened. */
export interface TracebackEvent {
  /** Of no other event of this node. */
  readonly id: number
  readonly rule: string
  /** What the rule says, in words: `port_rx_bytes rises by more than 1048576 in 100 samples`. */
  readonly condition: string
  readonly device: string
  /** Name of the source whose samples the rule watched; `traceback` for a combination. */
  readonly source: string
  readonly startMs: number
  /** How far off both times are at most. Unit: milliseconds. */
  readonly errorMs: number
  /** Absent while it is open. */
  readonly endMs?: number
  readonly end?: EventEnd
  /** The stretch whose samples are kept; absent where none are. */
  readonly window?: { readonly fromMs: number; readonly toMs: number }
  /** Samples kept, of all signals. */
  readonly samples: number
  /** Samples that limits, gaps or a full disk left out. */
  readonly leftOut: number
  /** On disk. Unit: bytes. */
  readonly sizeBytes: number
  /** The event before it, which was cut. */
  readonly continues?: number
  readonly isSimulated: boolean
}

/** What `GET /api/v1/events?rule=&device=&state=open|closed&from=&to=&limit=` answers. */
export interface EventsAnswer {
  readonly nowMs: number
  /** The latest first. */
  readonly events: readonly TracebackEvent[]
  /** Events that match and are not listed. */
  readonly leftOut: number
  readonly openCount: number
  /** Rules that watch; empty where traceback is not configured. */
  readonly rules: readonly { readonly name: string; readonly condition: string; readonly devices: readonly string[] }[]
  /** Why a file of rules is not in use; absent where it is. */
  readonly rulesFault?: string
  /** Events that the limit of a minute left out, since the start. */
  readonly limited: number
}

/** A signal of an event, as a lane of its page. */
export interface EventLane {
  /** What `/samples` is asked for. */
  readonly key: string
  /** Type of its records. */
  readonly type: string
  readonly source: string
  readonly device: string
  /** Kind of the device: `nic`, `gpu`, `pci`; empty where it is not known. */
  readonly kind: string
  /** What people call it. */
  readonly name: string
  readonly unit: string
  /** A counter is shown as its increase a second. */
  readonly role: 'counter' | 'gauge' | 'value'
  /** Between two samples: no change can be placed more exactly. Unit: milliseconds. */
  readonly resolutionMs: number
  /** How far off its times are at most, beside the resolution. Unit: milliseconds. */
  readonly errorMs: number
  readonly samples: number
  /** Stretches without samples. */
  readonly gaps: readonly { readonly fromMs: number; readonly toMs: number; readonly samples: number }[]
  /** Whether it is the signal that the rule watched. */
  readonly isOfRule: boolean
}

/** The start or the end of an event, as the page draws it. */
export interface EventMark {
  readonly event: number
  readonly rule: string
  readonly device: string
  readonly atMs: number
  readonly errorMs: number
  readonly isStart: boolean
}

/** What `GET /api/v1/events/:id` answers. */
export interface EventAnswer {
  readonly event: TracebackEvent
  readonly lanes: readonly EventLane[]
  /** Of this event and of all others within its window. */
  readonly marks: readonly EventMark[]
}

/**
 * What `GET /api/v1/events/:id/samples?lanes=KEY,KEY&from=&to=&points=` answers, as columns behind a header of JSON
 * (`application/vnd.sonde.samples`): where more samples than points lie in the window, each point is the least and the
 * greatest value of its stretch; else each is a sample.
 */
export interface SamplesHeader {
  readonly fromMs: number
  readonly toMs: number
  /** In the order in which they were asked for. `times` and `lows` are indexes of columns, `highs` too where they differ. */
  readonly lanes: readonly {
    readonly key: string
    readonly points: number
    /** Whether each point is a sample. */
    readonly isExact: boolean
  }[]
}
