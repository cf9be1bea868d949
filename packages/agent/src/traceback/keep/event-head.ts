import type { Batch } from '@sonde/sdk'
import type { EventEnd } from '@sonde/sdk/api'
import { createOwnSource, eventType, markType, type OriginBatch } from '@sonde/sdk/internal'

/** Facts about an event for its file. Times are nanoseconds since the Unix epoch. */
export interface HeadFacts {
  readonly id: number
  readonly rule: string
  readonly device: string
  readonly condition: string
  /** `oven.celsius`; empty for a combination. */
  readonly signal: string
  readonly reporter: string
  readonly startNs: bigint
  readonly errorNs: bigint
  readonly continues?: number | undefined
}

/** The end of an event. */
export interface HeadEnd {
  readonly why: EventEnd
  readonly endNs: bigint
  readonly errorNs: bigint
}

/** All ends, so that their texts are announced before any of them is used. */
const ENDS: Readonly<Record<EventEnd, true>> = {
  ...{ cleared: true, lost: true, cut: true, stopped: true, host_replaced: true, truncated: true },
}

/** Longest condition: a combination may name a thousand rules. */
const CONDITION_CHARACTERS = 1000

/** Source of the records about an event. */
const SOURCE = { id: 'traceback', tag: '', labels: {} }

/** The records about an event at the beginning of its file. Their size does not change when the event ends. */
export class EventHead {
  readonly #facts: HeadFacts
  readonly #batches: Batch[] = []
  readonly #source = createOwnSource({ id: SOURCE.id, emit: (batch) => this.#keep(batch) })

  constructor(facts: HeadFacts) {
    this.#facts = facts
  }

  /** Records with every text that a later record may need. */
  texts(): OriginBatch[] {
    const { startNs: endNs, errorNs } = this.#facts
    const ends = Object.keys(ENDS).map((why): HeadEnd => ({ why: why as EventEnd, endNs, errorNs }))
    return [...ends.map((end) => this.event(end)), this.mark(ends[0]), this.mark()]
  }

  /** The record of the event. */
  event(end?: HeadEnd): OriginBatch {
    this.#event(end)
    return this.#taken()
  }

  /** The mark of its start or end. */
  mark(end?: HeadEnd): OriginBatch {
    const { id: event, rule, device, startNs } = this.#facts
    const edge = end === undefined ? 'opened' : 'ended'
    const time = end?.endNs ?? startNs
    this.#source.report(markType, { time, rule, device, event, edge, severity: 'notice', unit: '', summary: rule })
    return this.#taken()
  }

  #event(end: HeadEnd | undefined): void {
    const { id: event, startNs: time, continues, errorNs, condition, ...said } = this.#facts
    this.#source.report(eventType, {
      ...{ ...said, time, event, why: end?.why ?? '', condition: condition.slice(0, CONDITION_CHARACTERS) },
      error_ns: end !== undefined && end.errorNs > errorNs ? end.errorNs : errorNs,
      ...(end === undefined ? {} : { ended: end.endNs }),
      ...(continues === undefined ? {} : { continues }),
    })
  }

  #keep(batch: Batch): void {
    this.#batches.push({ ...batch, bytes: batch.bytes.slice() })
  }

  #taken(): OriginBatch {
    this.#source.flush()
    const batch = this.#batches.splice(0).at(-1) as Batch
    return { ...batch, source: SOURCE }
  }
}
