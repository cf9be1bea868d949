import {
  absenceType,
  allocateViews,
  type Batch,
  encoderOf,
  type Labels,
  messageOf,
  type SondeError,
  SymbolTable,
  wallNs,
} from '@sonde/sdk'
import { TextTable } from '@sonde/sdk/internal'
import type { GivenSource } from './host.ts'
import type { Period } from './protocol.ts'
import type { SourceState } from './source-status.ts'

/**
 * A source whose host is elsewhere, over all lives of that host. In the next life it goes on with its series, as the
 * successor of what it was; where it cannot, they leave all views.
 */
export class RemoteSource {
  /** What a host is given to run it. */
  given: GivenSource
  /** Whose series these are, in all lives; see `SourceInfo`. */
  readonly owner = {}
  /** Constant labels, as its host said. */
  #labels: Labels = {}
  /** Whether views may show something of it. */
  #isShown = false
  /** Whether its host was lost, and nothing was reported in the next life yet. */
  #isAwaited = false

  constructor(given: GivenSource) {
    this.given = given
  }

  /** Keeps the period of a duty for the lives to come. */
  keepPeriod(period: Period): void {
    const { config } = this.given
    const others = (config.periods ?? []).filter(({ device, duty }) => device !== period.device || duty !== period.duty)
    this.given = { ...this.given, config: { ...config, periods: [...others, period] } }
  }

  /** Passes on what it reports. */
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
    if (this.#isAwaited && state !== 'reading') this.#leave(reason)
  }

  /** Its host was lost. `isSoon`: the next life begins soon, so that the series may wait for it. */
  lost(error: SondeError, { isSoon }: { readonly isSoon: boolean }): void {
    const { status } = this.given
    const reason = messageOf(error)
    status.stats.restarts++
    status.stats.failed.add('the host', error, Date.now())
    const isStuck = error.code !== 'AGT_CHILD_EXIT' && error.code !== 'AGT_CHILD_MESSAGE'
    // What a source said of itself says more.
    if (status.state !== 'stuck' || error.code !== 'SRC_STUCK') status.settle(isStuck ? 'stuck' : 'failed', reason)
    if (!isSoon || this.#isAwaited) this.#leave(reason)
    else this.#isAwaited = this.#isShown
  }

  #leave(reason: string): void {
    this.#isAwaited = false
    if (!this.#isShown) return
    this.#isShown = false
    const batch = this.#goneOf(reason)
    this.given.status.stats.accepted(batch)
    this.given.accept(batch)
  }

  #goneOf(reason: string): Batch {
    const { config, definition } = this.given
    const { types } = definition
    const labels = this.#labels
    const symbols = new SymbolTable()
    const encode = encoderOf(absenceType, symbols)
    const { recordBytes } = absenceType.layout
    const views = allocateViews(recordBytes * types.length)
    for (const [index, { name: type }] of types.entries())
      encode({ time: wallNs(), type, series: '', field: '', code: 'gone', reason }, views, index * recordBytes)
    return {
      ...{ type: absenceType, clock: 'wall', origin: 'own', arrivedMs: performance.now() },
      source: { id: config.name, tag: '', labels, symbols, owner: this.owner },
      ...{ count: types.length, bytes: views.bytes, symbols: new TextTable(symbols) },
    }
  }
}
