import { type Batch, type Labels, type RecordType, type SondeError, wallNs } from '@sonde/sdk'
import type { SourceState } from '@sonde/sdk/api'
import { absenceType, allocateViews, encoderOf, messageOf, SymbolTable, TextTable } from '@sonde/sdk/internal'
import type { SourceToStart } from './host.ts'
import type { DutyPeriod, HostedConfig } from './protocol.ts'

/** Statuses of the next life, apart by a period each, after which what it did not report has left. */
const ROUNDS = 4
/** Shortest time between two of them: devices may take seconds to open. Unit: milliseconds. */
const ROUND_MS_MIN = 1000
const NOT_REPORTED = 'no longer reported since its host was replaced'

/**
 * A source of a remote host, over all lives of that host. In the next life it continues its series as its own
 * successor. If it cannot, the series leave all views, as do series that it does not report again.
 */
export class RemoteSource {
  /** The data with which a host runs it. */
  given: SourceToStart
  /** The owner of the series in all lives; see `SourceInfo`. */
  readonly owner = {}
  /** Which life of the host this is, or the next where there is none now. */
  life = 0
  /** Constant labels, as its host said. */
  #labels: Labels = {}
  /** Whether views may show something of it. */
  #isShown = false
  /** Whether its host was lost, and nothing was reported in the next life yet. */
  #isAwaited = false
  /** Rounds until what only lives before reported leaves; 0 if it left. */
  #roundsLeft = 0
  /** When the last round was. Unit: milliseconds. */
  #roundMs = 0

  constructor(given: SourceToStart) {
    this.given = given
  }

  /** Keeps the period of a duty for the lives to come. */
  keepPeriod(period: DutyPeriod): void {
    const { config } = this.given
    const others = (config.periods ?? []).filter(({ device, duty }) => device !== period.device || duty !== period.duty)
    this.keep({ periods: [...others, period] })
  }

  /** Keeps the settings of commands for later lives. */
  keep(asked: Pick<HostedConfig, 'periods' | 'watch' | 'paused'>): void {
    this.given = { ...this.given, config: { ...this.given.config, ...asked } }
  }

  /** Passes its records on. */
  accept(batch: Batch): void {
    if (this.given.definition.types.some(({ name }) => name === batch.type.name)) {
      this.#labels = batch.source.labels
      this.#isShown = true
      this.#isAwaited = false
    }
    this.given.accept(batch)
  }

  /** Settles its state. Where it reads nothing in the life that was to go on with its series, they leave. */
  settle(state: SourceState, reason: string): void {
    this.given.status.settle(state, reason)
    if (state === 'reading') this.#noteRound()
    else if (this.#isAwaited && state !== 'starved') this.#leave(reason)
  }

  /** Its host was lost. `isSoon`: the next life begins soon, so that the series may wait for it. */
  lost(error: SondeError, { isSoon }: { readonly isSoon: boolean }): void {
    const { status } = this.given
    const reason = messageOf(error)
    status.stats.restarts++
    this.given.onLost?.()
    status.stats.failed.add('the host', error, Date.now())
    const isStuck = error.code !== 'AGT_CHILD_EXIT' && error.code !== 'AGT_CHILD_MESSAGE'
    // The status of the source itself has more detail.
    if (status.state !== 'stuck' || error.code !== 'SRC_STUCK') status.settle(isStuck ? 'stuck' : 'failed', reason)
    if (!isSoon || this.#isAwaited) this.#leave(reason)
    else if (this.#isShown) this.#await()
    this.life++
  }

  #await(): void {
    this.#isAwaited = true
    this.#roundsLeft = ROUNDS
    this.#roundMs = Number.NEGATIVE_INFINITY
  }

  /** Counts rounds and not the time alone: while nothing is read, nothing leaves. */
  #noteRound(): void {
    const nowMs = performance.now()
    if (this.#roundsLeft === 0 || nowMs - this.#roundMs < this.#periodMs) return
    this.#roundMs = nowMs
    if (--this.#roundsLeft > 0) return
    // Of a type whose series are read in turns, no period says when a series is due again.
    const types = this.given.definition.types.filter(({ inTurns }) => !inTurns)
    this.#tellGone(types, NOT_REPORTED, this.life - 1)
  }

  /** The longest period of the source. Unit: milliseconds. */
  get #periodMs(): number {
    const { config, status } = this.given
    const set = (config.periods ?? []).map(({ everyUs }) => everyUs / 1000)
    const said = status.stats.periods.map(({ reportUs }) => reportUs / 1000)
    return [...set, ...said].reduce(
      (longest, each) => Math.max(longest, each),
      Math.max(ROUND_MS_MIN, config.intervalMs),
    )
  }

  #leave(reason: string): void {
    this.#isAwaited = false
    this.#roundsLeft = 0
    if (!this.#isShown) return
    this.#isShown = false
    this.#tellGone(this.given.definition.types, reason, this.life)
  }

  /** Series of a life of the host and of earlier lives leave all views. */
  #tellGone(types: readonly RecordType[], reason: string, life: number): void {
    if (types.length === 0) return
    const batch = this.#goneOf(types, reason, life)
    this.given.status.stats.accepted(batch)
    this.given.accept(batch)
  }

  #goneOf(types: readonly RecordType[], reason: string, life: number): Batch {
    const { name } = this.given.config
    const labels = this.#labels
    const symbols = new SymbolTable()
    const encode = encoderOf(absenceType, symbols)
    const { recordBytes } = absenceType.layout
    const views = allocateViews(recordBytes * types.length)
    const absence = { time: wallNs(), series: '', field: '', code: 'gone', reason }
    for (const [index, type] of types.entries()) encode({ ...absence, type: type.name }, views, index * recordBytes)
    return {
      ...{ type: absenceType, clock: 'wall', origin: 'own', arrivedMs: performance.now() },
      source: { id: name, tag: '', labels, symbols, owner: this.owner, life },
      ...{ count: types.length, bytes: views.bytes, symbols: new TextTable(symbols) },
    }
  }
}
