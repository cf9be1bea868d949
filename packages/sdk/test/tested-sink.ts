import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { SeriesLimits } from '../src/delivery/config.ts'
import { type Batch, type RecordType, type Sink, SondeError } from '../src/index.ts'
import { type DeliveryLimits, droppedTotal } from '../src/internal/index.ts'
import { BatchSource, portType } from './sink-records.ts'

/** What the far end of a push sink does: takes all, never answers, fails for now, refuses for good, or is not there. */
export type PeerBehaviour = 'takes' | 'hangs' | 'fails' | 'refuses' | 'gone'

/** Values by device. */
export type Arrivals = Iterable<readonly [device: string, value: bigint]>

/** A sink, and a reader of its output. */
export interface SinkUnderTest {
  readonly sink: Sink
  /**
   * The values of a u64 field with the label `device`, in the order of arrival; nothing where it is absent. Views have
   * the newest values only. Asked after `flush`.
   */
  read(type: RecordType, field: string): Arrivals | Promise<Arrivals>
  /** Whether the far end has no answer that refuses records. Default: it has. */
  readonly neverRefuses?: true
  /** A u64 as the far end holds it. Default: exactly. */
  held?(value: bigint): bigint
  /** Sets what the far end does from now on. Only push sinks have one. At first it takes all. */
  peer?(behaviour: PeerBehaviour): void | Promise<void>
}

/**
 * Makes a fresh sink; a push sink with the limits that are given. Clean up with `t.after`; the suite closes the sink
 * itself.
 */
export type OpenSink = (t: TestContext, limits: DeliveryLimits & SeriesLimits) => SinkUnderTest | Promise<SinkUnderTest>

/** A case of the suite of sinks. */
export interface Case {
  readonly title: string
  /** Default: those under which a dead peer is noticed soon. */
  readonly limits?: DeliveryLimits & SeriesLimits
  readonly run: (tested: Tested) => Promise<void>
}

const RX = 'rx_bytes_total'

/** A sink and how its accounts are checked. */
export class Tested {
  readonly sink: Sink
  readonly source = new BatchSource()
  readonly #given: SinkUnderTest
  /** Records given to it. */
  #acceptedRecords = 0

  constructor(given: SinkUnderTest) {
    this.sink = given.sink
    this.#given = given
    assert.match(given.sink.name, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/)
  }

  get queued(): number {
    return 'queuedRecords' in this.sink ? Number(this.sink.queuedRecords) : 0
  }

  get dropped(): number {
    return droppedTotal(this.sink.stats)
  }

  get hasPeer(): boolean {
    return this.#given.peer !== undefined
  }

  get neverRefuses(): boolean {
    return this.#given.neverRefuses === true
  }

  /** A value as the far end holds it. */
  held(value: bigint): bigint {
    return this.#given.held?.(value) ?? value
  }

  accept(batch: Batch): void {
    this.sink.accept(batch)
    this.#acceptedRecords += batch.count
    assert.equal(this.sink.stats.in, this.#acceptedRecords, 'every record given to accept counts as in')
  }

  async shown(field: string = RX, type: RecordType = portType): Promise<Record<string, bigint>> {
    await this.sink.flush()
    this.checkBalance()
    return Object.fromEntries(await this.#given.read(type, field))
  }

  /** All values of {@link portType}, in the order of arrival. */
  async arrivals(): Promise<(readonly [device: string, value: bigint])[]> {
    await this.sink.flush()
    return [...(await this.#given.read(portType, RX))]
  }

  async peer(behaviour: PeerBehaviour): Promise<void> {
    assert.ok(this.#given.peer, 'a push sink has a peer')
    await this.#given.peer(behaviour)
  }

  checkBalance(): void {
    const { stats } = this.sink
    assert.equal(stats.in, stats.out + this.dropped + this.queued, 'in = out + dropped + queued')
    assert.ok(stats.seconds >= 0)
    for (const [reason, records] of stats.dropped) {
      assert.match(reason, /^[a-z]+(_[a-z]+)*$/)
      assert.ok(records > 0, `${reason} counts nothing`)
    }
  }
}

/** What it settles to is another case's: here it only must settle, and reject with nothing but an error of Sonde. */
export async function settled(flush: Promise<void>): Promise<void> {
  await flush.catch((error: unknown) => assert.ok(error instanceof SondeError, String(error)))
}
