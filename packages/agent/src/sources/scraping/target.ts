import { SondeError } from '@sonde/sdk'
import type { TargetStatus } from '@sonde/sdk/api'
import { ExpositionParser, messageOf, PARSE_LIMITS } from '@sonde/sdk/internal'
import type { SourceContext } from '../source.ts'
import { readCredentials } from './credentials.ts'
import { httpGet } from './http-get.ts'
import { BudgetSpent, CpuBudget, inTurns } from './in-turns.ts'
import type { ScrapingOptions } from './options.ts'
import { type RefusalReason, reasonOf, ScrapeRefusal } from './refusal.ts'
import type { ScrapedRows } from './scraped-rows.ts'
import { TargetState } from './target-state.ts'

const NEWLINE = 10
/** Allowed series of a body, as a multiple of `max_series`: a body also contains series that are not read. */
const BODY_SERIES = 8
/** After an answer exceeds its budget, the exporter rests for this multiple of the time. */
const REST = 10

/** Turns the answers of one exporter into records. */
export interface TargetReader {
  readonly rows: ScrapedRows
  /**
   * Checks, in steps, whether a body comes from the right kind of exporter. Returns the message that follows the
   * address, or an empty text if the body is valid. The body has at least one series.
   */
  refusal(parser: ExpositionParser): Generator<undefined, string>
  /**
   * Reports the records of a body, in steps.
   *
   * @throws SondeError if the body contradicts itself; the caller then calls `fail`.
   */
  report(parser: ExpositionParser): Generator<undefined, void>
  /** Marks everything that the exporter reported as absent. */
  fail(reason: string): void
  /** The exporter is no longer scraped. */
  leave(reason: string): void
}

/** Scrapes one address and passes the answers to a reader. */
export class Target {
  readonly address: string
  readonly #options: ScrapingOptions
  readonly #context: SourceContext
  readonly #reader: TargetReader
  readonly #state: TargetState
  readonly #left = new AbortController()
  #parser: ExpositionParser
  /** End of the rest on the monotonic clock, and its reason. */
  #restsUntilMs = Number.NEGATIVE_INFINITY
  #restReason = ''

  constructor(address: string, options: ScrapingOptions, context: SourceContext, reader: TargetReader) {
    this.address = address
    this.#options = options
    this.#context = context
    this.#reader = reader
    this.#state = new TargetState(address)
    this.#parser = this.#makeParser()
  }

  /** State of the exporter. */
  get status(): TargetStatus {
    return this.#state.status
  }

  /**
   * Sends one request without reporting the answer.
   *
   * @throws SondeError as {@link scrape}.
   */
  async look(signal: AbortSignal): Promise<void> {
    // Uses its own parser, because a scrape may run at the same time and needs its samples.
    const parser = this.#makeParser()
    await this.#within((budget) => this.#read(parser, signal, budget))
  }

  /**
   * Scrapes the exporter and reports its answer.
   *
   * @throws SondeError `SRC_SCRAPE` if there is no answer or the answer is refused: all values are then absent, with
   * the reason; `SRC_CREDENTIALS` if the credentials cannot be read.
   */
  async scrape(ending: AbortSignal): Promise<void> {
    // If the target leaves during a scrape, the answer is dropped: nothing would remove its rows later.
    const signal = AbortSignal.any([ending, this.#left.signal])
    try {
      await this.#within(async (budget) => {
        await this.#read(this.#parser, signal, budget)
        await inTurns(this.#reader.report(this.#parser), budget, signal)
      })
      this.#state.settle('reading', '', this.#reader.rows.disputes)
    } catch (error) {
      if (this.#left.signal.aborted) return
      if (!signal.aborted) this.#refuse(error)
      throw error
    }
  }

  /** Marks everything that the exporter reported as absent. */
  fail(reason: string): void {
    if (this.#left.signal.aborted) return
    this.#state.settle('failed', reason)
    this.#reader.fail(reason)
  }

  /** The exporter is no longer scraped. */
  leave(reason: string): void {
    this.#left.abort()
    this.#reader.leave(reason)
  }

  /** Gives up subjects that sources of the hardware hold now. */
  review(): void {
    this.#reader.rows.review()
  }

  /** Runs work within its budget. Work that exceeds it is refused, and the exporter rests. */
  async #within(work: (budget: CpuBudget) => Promise<void>): Promise<void> {
    const budget = new CpuBudget(this.#options.max_cpu_ms)
    if (performance.now() < this.#restsUntilMs) throw new ScrapeRefusal('cpu_time', this.address, this.#restReason)
    try {
      await work(budget)
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error
      // A new parser frees the series that the old one has learnt.
      this.#parser = this.#makeParser()
      this.#restsUntilMs = performance.now() + budget.usedMs * REST
      const took = `answered with work for more than ${budget.limitMs} ms of processor time`
      this.#restReason = `${took}, which max_cpu_ms allows: it is refused, and asked again in ${Math.ceil((budget.usedMs * REST) / 1000)} s`
      throw new ScrapeRefusal('cpu_time', this.address, this.#restReason)
    }
  }

  /** Fetches and parses the answer. */
  async #read(parser: ExpositionParser, signal: AbortSignal, budget: CpuBudget): Promise<void> {
    const { timeout_ms: timeoutMs, max_bytes: bytesMax } = this.#options
    const credentials = await readCredentials(this.#options)
    const { body, isOpenMetrics } = await httpGet(this.address, { timeoutMs, bytesMax, signal, credentials })
    const refused = (reason: RefusalReason, why: string) => new ScrapeRefusal(reason, this.address, why)
    const cut = (what: string) =>
      refused('truncated', `answers with a body that is cut off: ${what}; the whole answer is ignored`)
    if (!isOpenMetrics && body.length > 0 && body.at(-1) !== NEWLINE) throw cut('its last line has no end')
    await inTurns(parser.read(body, isOpenMetrics ? 'openmetrics' : 'text'), budget, signal)
    if (isOpenMetrics && body.length > 0 && !parser.hasEnded) throw cut('it has no # EOF')
    if (parser.count === 0)
      throw refused('no_series', 'answers without a series, as during its start: the state of its devices is unknown')
    const refusal = await inTurns(this.#reader.refusal(parser), budget, signal)
    if (refusal !== '') throw refused('no_series', refusal)
    this.#tellFaults(parser)
  }

  #tellFaults({ faults }: ExpositionParser): void {
    const [first] = faults.lines
    if (first === undefined) return
    const counts = [...faults.counts].map(([name, count]) => `${count} ${name}`).join(', ')
    const why = `has lines that are wrong (${counts}), the first is line ${first.line}`
    this.#context.failed(this.address, new SondeError('SRC_SCRAPE', `${this.address} ${why}`))
  }

  /** Records that the complete answer was refused: all values become absent. */
  #refuse(error: unknown): void {
    const reason = reasonOf(error)
    const isResting = performance.now() < this.#restsUntilMs
    this.#state.refuse(reason, isResting ? 'stopped' : 'failed', messageOf(error))
    this.#reader.fail(messageOf(error))
  }

  #makeParser(): ExpositionParser {
    const { max_bytes: bodyBytes, max_series: seriesMax } = this.#options
    const seriesCount = Math.min(PARSE_LIMITS.seriesCount, BODY_SERIES * seriesMax)
    return new ExpositionParser({ bodyBytes, seriesCount })
  }
}
