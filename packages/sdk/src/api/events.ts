// Answers about events of traceback: children of `GET /api/v1/incidents/:id`, for the agent and the page. Times are
// milliseconds since the Unix epoch, with fractions down to the resolution of a signal.

/** Why an event ended. */
export type EventEnd =
  /** Its rule became false. */
  | 'cleared'
  /** Its device or application left, or a call of the device hangs: nobody sees whether its rule still holds. */
  | 'lost'
  /** It became longer or larger than a part may be; the next part continues it. */
  | 'cut'
  /** Who watched was stopped. */
  | 'stopped'
  /** The process that watched was replaced. */
  | 'host_replaced'
  /** The disk took no more of it. */
  | 'truncated'

/** A part of an event that became longer or larger than `max_event_s` or `max_event_bytes`. */
export interface EventPart {
  readonly id: number
  readonly startMs: number
  /** Absent while it is open. */
  readonly endMs?: number
}

/** An event that a rule of traceback opened, or a part of one. */
export interface TracebackEvent {
  /** Of no other event or part of this node. An event has the id of its first part that is kept. */
  readonly id: number
  readonly rule: string
  /** The condition of the rule, in words: `port_rx_bytes rises by more than 1048576 in 100 samples`. */
  readonly condition: string
  /**
   * Id in `/api/v1/devices`. If that list does not have the device: its name at the source, or application, type and
   * labels of the series, such as `bakery oven left`. Empty for a combination of several devices.
   */
  readonly device: string
  /** Name of the source whose samples the rule watched; `traceback` for a combination. */
  readonly source: string
  /** Id of the client whose records opened it, in decimal; absent if a source of the agent did. */
  readonly client?: string
  readonly startMs: number
  /** How far off both times are at most. Unit: milliseconds. */
  readonly errorMs: number
  /** Absent while it is open. */
  readonly endMs?: number
  readonly end?: EventEnd
  /** The time span with kept samples, up to now for an open event; absent if no sample is kept. */
  readonly window?: { readonly fromMs: number; readonly toMs: number }
  /** Samples kept, of all signals. */
  readonly samples: number
  /** Samples that limits, gaps or a full disk left out. */
  readonly leftOut: number
  /** On disk. Unit: bytes. */
  readonly sizeBytes: number
  /** Of a part behind the first: the part before it. */
  readonly continues?: number
  /** Of a part behind the first: the part that the event started with, which may have made room for others. */
  readonly first?: { readonly id: number; readonly startMs: number }
  /** Of an event that was cut: how many of its parts are kept. */
  readonly parts?: number
  readonly isSimulated: boolean
}

/** A rule that watches. */
export interface WatchingRule {
  readonly name: string
  /** Its condition, in words. */
  readonly condition: string
  /** Devices with watched series: ids in `/api/v1/devices`, or names of the series. */
  readonly devices: readonly string[]
  /** The last reporter of such devices, and when it left; absent while there are devices, and before the first. */
  readonly left?: { readonly who: string; readonly atMs: number }
}

/** A signal of an event, as a lane of its page. */
export interface EventLane {
  /** Its key in requests for `/samples`. */
  readonly key: string
  /** Type of its records. */
  readonly type: string
  readonly source: string
  /** Id in `/api/v1/devices`, or the name from the labels if that list does not have the device. */
  readonly device: string
  /** Its name in the kernel or driver. */
  readonly deviceName: string
  /** Kind of the entity of its records: `nic`, `netdev`, `gpu`, `pci`; empty if it is not known. */
  readonly kind: string
  /** Field, and labels that tell it from other series of its device. */
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

/** Samples of an event that a limit of its size left out. Own signals of the rule are never left out. */
export interface LeftOutStretch {
  readonly source: string
  readonly type: string
  /** As its source calls it; empty for records that are reported. */
  readonly device: string
  readonly fromMs: number
  readonly toMs: number
  /** About so many. */
  readonly samples: number
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

/** What `GET /api/v1/incidents/:id/lanes?find=&kind=` answers. */
export interface EventAnswer {
  /** The node: an id of an incident is that of the node and the number of the event. */
  readonly node: string
  /** The event, or the part of it that has the id. */
  readonly event: TracebackEvent
  /** All of the event that `event` is a part of; absent if it was never cut. */
  readonly whole?: TracebackEvent
  /** Its parts that are kept, by start, at most 1000 of the latest; empty if it was never cut. */
  readonly parts: readonly EventPart[]
  /** Stretches that limits left out, by start; at most 256. */
  readonly leftOut: readonly LeftOutStretch[]
  /** Those that match, at most 64: the first of the ranking that docs/http-api.md tells. */
  readonly lanes: readonly EventLane[]
  /** Lanes that match and have no room here. */
  readonly lanesLeftOut: number
  /** Signals whose samples are kept, whether or not they match. */
  readonly lanesKept: number
  /** Kinds of all of them, the most frequent first. */
  readonly kinds: readonly { readonly kind: string; readonly lanes: number }[]
  /** Of this event and of all others within its window. */
  readonly marks: readonly EventMark[]
}

/**
 * The head of the answer of `GET /api/v1/incidents/:id/samples?lanes=KEY,KEY&from=&to=&points=`
 * (`application/vnd.sonde.samples`). The answer has the length of the head as u32, the head as JSON, zeros to a
 * multiple of 8, and the columns, each aligned to 8 bytes. All numbers are little-endian.
 *
 * If a lane has more samples than points, point `i` is the lowest and the highest value in the `i`th of `points` equal
 * spans, NaN without a sample. Otherwise each point is a sample, with one neighbour on each side of the window. A
 * counter is its increase a second, at the time of the later sample: NaN for the first sample, after a gap, and at a
 * reset.
 */
export interface SamplesHeader {
  readonly fromMs: number
  readonly toMs: number
  /** Stretches: fewer than asked for where the answer would be larger than 1 MB. */
  readonly points: number
  readonly columns: readonly { readonly kind: 'f64' | 'f32'; readonly length: number }[]
  /** In the order of the request. */
  readonly lanes: readonly {
    readonly key: string
    /** Whether each point is a sample. */
    readonly isExact: boolean
    /** Samples in the stretch. */
    readonly samples: number
    /** Column of the times, in milliseconds after `fromMs`; only where `isExact`. Lanes of a series share it. */
    readonly times?: number
    /** Column of the least values. */
    readonly lows: number
    /** Column of the greatest values; the same as `lows` where `isExact`. */
    readonly highs: number
  }[]
}
